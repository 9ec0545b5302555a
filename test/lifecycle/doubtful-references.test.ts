import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { referencesOf } from "../../provider/definition/kinds.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { resources } from "../../provider/resources/index.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { bound, roleOf } from "../support/forms.js";

type Json = Record<string, unknown>;

const someId = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

let hub: Emulated;
beforeAll(async () => {
  hub = await emulated();
});
afterAll(() => hub.stop());

/** A value with another one at a path such as `roles[].authentication`; of a list the first item. */
const changed = (value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown => {
  if (name === undefined) return to;
  if (name === "[]") {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [changed(first, rest, to), ...others];
  }
  const object: Json = { ...(value as Json) };
  return { ...object, [name]: changed(object[name], rest, to) };
};

/** What preview says of the example of a kind with this value at one of its references. */
const saidOf = async (kind: string, example: unknown, path: string, id: string) => {
  hub.nextRun();
  const steps = path.replaceAll("[]", ".[]").split(".");
  const inputs = owned(
    "one",
    changed(
      bound(example, () => someId),
      steps,
      id,
    ) as Json,
  );
  const { failures } = await hub.of(kind).check({}, inputs);
  return [...failures.map(({ reason }) => reason), ...hub.reported];
};

const references = resources.flatMap((definition) =>
  referencesOf(definition).map(({ path }) => ({ definition, path })),
);

test("every kind that refers to others has its references here", () => {
  expect(references.length).toBeGreaterThan(6);
});

describe.each(references)("$definition.kind: $path", ({ definition: { kind, example }, path }) => {
  test.each(["callbacks", "web", "1007", "x".repeat(36)])(
    "preview says that %s can hardly be an id",
    async (id) => {
      const [said, ...others] = await saidOf(kind, example, path, id);
      expect(others).toEqual([]);
      expect(said).toContain(path.replaceAll("[]", "[0]"));
      expect(said).toContain(id);
    },
  );

  test.each([someId, someId.toUpperCase(), unknownValue])(
    "preview says nothing of %s and makes no call",
    async (id) => {
      expect(await saidOf(kind, example, path, id)).toEqual([]);
      expect(await hub.calls()).toEqual([]);
    },
  );
});

test("a reference that was given before is not spoken of again", async () => {
  hub.nextRun();
  const roles = [roleOf("customer", { authentication: "x".repeat(36) })];
  const inputs = owned("app", { name: "app", roles });
  const lifecycle = hub.of("ClientApplication");
  const { inputs: old } = await lifecycle.check({}, inputs);
  expect(hub.reported).toHaveLength(1);
  await lifecycle.check(JSON.parse(JSON.stringify(old)), inputs);
  expect(hub.reported).toHaveLength(1);
});
