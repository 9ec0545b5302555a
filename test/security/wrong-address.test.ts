import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Stage } from "../matrix/support/stage.js";
import { failureOf, type Held, Life, objectsAt } from "./support/life.js";

let stage: Stage;
let life: Life;

beforeEach(async () => {
  stage = await Stage.open();
  life = new Life("shop/prod/0123456789abcdef", "a");
  await life.up(stage.run());
});
afterEach(() => stage[Symbol.asyncDispose]());

/** Paths below which the emulator answers 404 to everything, in the service's own form. */
const wrongPaths = ["/v3", "/conversation/v2/v3", "/conversations/v3", "/oauth/v3"];

const goTo = (path: string): void =>
  stage.nextRun({ CONVERSATION_BASE_URL: stage.wire.origin + path });

const verbs: Readonly<Record<string, (entry: Held) => Promise<unknown>>> = {
  "a refresh": ({ form, id, state }) => stage.of(form.definition.kind).read(id, state),
  "a look": ({ form, id }) => stage.of(form.definition.kind).read(id, { __provider: "pointer" }),
  "an update": (entry) => life.change(stage.run(), entry, { description: "changed" }),
  "a deletion": ({ form, id, state }) => stage.of(form.definition.kind).delete(id, state),
  "a creation": ({ form }) => {
    const another = new Life("other/dev/fedcba9876543210", "b");
    another.held.push(...life.held);
    return another.create(stage.run(), form);
  },
};

describe.each(wrongPaths)("at the path %s", (path) => {
  test.each(Object.entries(verbs))(
    "%s of any kind fails and says where to look",
    async (_, verb) => {
      const before = await objectsAt(stage);
      for (const entry of life.held) {
        goTo(path);
        const message = await failureOf(verb(entry));
        expect(message).toContain("conversation:baseUrl (CONVERSATION_BASE_URL)");
        expect(message).toContain(`whose path is "${path}"`);
        expect(message).toContain("npx pulumi-conversation doctor");
        expect(message).not.toContain("refresh");
        expect(message).not.toContain("defect");
      }
      expect(await objectsAt(stage)).toEqual(before);
    },
  );
});

test("at the right address a destroy goes on over what is gone, at no call more than one", async () => {
  const [first, ...others] = [...life.held].reverse();
  if (!first) throw new Error("nothing is held");
  const { collection } = first.form.definition;
  stage.nextRun();
  await stage.of(first.form.definition.kind).delete(first.id, first.state);
  stage.nextRun();
  stage.sent.length = 0;
  await stage.of(first.form.definition.kind).delete(first.id, first.state);
  const proof = ["TOKEN", `DELETE /${collection}/{id}`, `GET /${collection}`];
  expect(stage.sent).toEqual(proof);
  await life.destroy(stage.run());
  expect(stage.sent.filter((call) => call.startsWith("GET"))).toHaveLength(1);
  expect(others.length).toBeGreaterThan(3);
  expect(await objectsAt(stage)).toEqual([]);
});
