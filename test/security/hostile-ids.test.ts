import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { Stage } from "../matrix/support/stage.js";
import { hostileIds } from "../service/support/hostile-ids.js";
import { formsOf, type Json } from "../support/forms.js";
import { failureOf, type Held, Life, objectsAt } from "./support/life.js";

let stage: Stage;
let held: readonly Held[];
let before: readonly Json[];

beforeAll(async () => {
  stage = await Stage.open();
  const life = new Life("shop/prod/0123456789abcdef", "a");
  await life.up(stage.run());
  held = life.held;
  before = await objectsAt(stage);
});
beforeEach(() => {
  stage.nextRun();
  stage.sent.length = 0;
});
afterAll(() => stage[Symbol.asyncDispose]());

test.each(hostileIds)(
  "to adopt the id %j is refused by the check and, past it, before it is sent",
  async (id) => {
    for (const { form, state } of held) {
      const lifecycle = stage.of(form.definition.kind);
      if (id !== "") {
        const { failures } = await lifecycle.check({}, { ...form.values, adopt: id });
        expect(failures.map(({ reason }) => reason).join()).toContain(
          "adopt must be true or the ID",
        );
        const owner = "shop/prod/fedcba9876543210/other";
        await failureOf(lifecycle.create({ ...state, owner, adopt: id }));
      }
    }
    expect(stage.sent.filter((call) => call.includes("{id}"))).toEqual([]);
  },
);

test.each(hostileIds)("a reference to %j is refused by the check", async (id) => {
  for (const form of resources.flatMap(formsOf)) {
    const text = JSON.stringify(form.values);
    const values = JSON.parse(text, (_, value) =>
      typeof value === "string" && value.startsWith("${") ? id : value,
    );
    const { failures } = await stage.of(form.definition.kind).check({}, values);
    expect(failures.length > 0, form.name).toBe(text.includes("${"));
  }
});

test("all objects are still as they were", async () => {
  expect(await objectsAt(stage)).toEqual(before);
});
