import fc from "fast-check";
import { expect, test } from "vitest";
import {
  objectInputs,
  savedAccount,
  savedAccountIn,
  unknownMembers,
} from "../../../cli/account/object-inputs.js";
import { programSource, projectReadme } from "../../../cli/export/program-files.js";
import { planProgram } from "../../../cli/export/program-plan.js";
import { entryOf, importFileText } from "../../../cli/import/import-entries.js";
import { isObject } from "../../../provider/kernel/json.js";
import { resources } from "../../../provider/resources/index.js";
import { randomAccount } from "../../support/random-account.js";

const definitionOf = (kind: string) => {
  const definition = resources.find((each) => each.kind === kind);
  if (!definition) throw new Error(kind);
  return definition;
};

const unknownOf = (kind: string, wire: Readonly<Record<string, unknown>>) =>
  unknownMembers(definitionOf(kind), wire);

test("members beside documented ones are named, at the top and in documented objects", () => {
  const wire = {
    ...{ id: "1", created: "x", type: "custom.a", later: { a: null, b: [1, null] }, gone: null },
    restrictions: { inbound: { shade: "blue", maxTextLength: 5 }, outbound: {} },
  };
  expect(unknownOf("Channel", wire)).toEqual(["later", "restrictions.inbound.shade"]);
});

test("members in items of lists, in entries of maps and beside envelopes are named", () => {
  const role = {
    name: "customer",
    queue: "fast",
    authentication: { id: "1", name: "x", weight: 3 },
  };
  const header = { name: "X-Key", value: "v", encrypted: true };
  expect(
    unknownOf("ClientApplication", { roles: [{ ...role, headers: [header] }, { nothing: null }] }),
  ).toEqual([
    "roles[customer].queue",
    "roles[customer].authentication.weight",
    'roles[customer].headers["X-Key"].encrypted',
  ]);
  const intents = { intent: [{ value: "a", shade: 1 }], total: 1 };
  expect(unknownOf("Participant", { intents })).toEqual(["intents.total", "intents[a].shade"]);
  const chatConfigurations = { entryPoint: { id: "1007", name: "Front" } };
  expect(unknownOf("Account", { chatConfigurations })).toEqual([
    "chatConfigurations.entryPoint.name",
  ]);
});

/** Looks like no secret, in a member whose name says nothing. */
const canary = "blue 7f3a";
const canaryNumber = 918_273_645;

const hidden = fc.oneof(
  fc.constantFrom<unknown>(canary, canaryNumber, [canary], { shade: canary }, [{ of: [canary] }]),
);
const names = fc.constantFrom("vendorKey", "shade", "__proto__", "constructor", "extra", "x y");

/** Members that no field knows, in each object of a value. */
const withUnknown = (value: unknown, name: string, of: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => withUnknown(item, name, of));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, inner]) => [key, withUnknown(inner, name, of)]);
  return Object.fromEntries([...members, [name, of]]);
};

const vendor = { platformName: "acme" };
const project = { project: "taken", stack: "prod" };

test("no value of a member that no definition knows is in a file of an export, an import or a saved account", () =>
  fc.assert(
    fc.property(randomAccount, names, hidden, (account, name, of) => {
      const kinds = resources.map((definition) => ({
        definition,
        objects: new Map(
          (account[definition.collection] ?? []).map((wire) => {
            const odd = withUnknown(wire, name, of);
            return [String(wire.id), isObject(odd) ? odd : {}] as const;
          }),
        ),
      }));
      const objects = kinds.flatMap(({ definition, objects: found }) =>
        [...found].map(([id, wire]) => objectInputs(definition, id, wire, vendor)),
      );
      const reading = { kinds, readAt: "2026-01-01", baseUrl: "x", consistent: true, openEnds: [] };
      const saved = JSON.stringify(savedAccount(reading));
      const plan = planProgram(objects, {});
      const { files, secrets } = programSource(plan, { split: "single" });
      const page = { names: project, baseUrl: "x", plan, secrets, possible: [], notes: [] };
      const entries = plan.declared.map((each) =>
        entryOf(each, { ownership: "o", withSecrets: true }),
      );
      const written = [
        ...files.values(),
        projectReadme(page),
        importFileText(plan.declared, { ownership: "o" }, project),
        JSON.stringify(entries),
        saved,
      ].join("\n");
      expect(written).not.toContain(canary);
      expect(written).not.toContain(String(canaryNumber));
      expect(savedAccountIn(saved)?.kinds.flatMap((kind) => kind.objects)).toHaveLength(
        objects.length,
      );
      for (const object of objects) expect(object.undeclared).toContain(topOf(name));
    }),
  ));

/** The path of a member at the top of an object. */
const topOf = (name: string): string => (name === "x y" ? '["x y"]' : name);
