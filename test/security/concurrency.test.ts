import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { Stage } from "../matrix/support/stage.js";
import { formsOf } from "../support/forms.js";
import { idsAt, Life } from "./support/life.js";

const ownership = "shop/prod/0123456789abcdef";

/** A stack with objects of every kind, unused ones besides, and a new run in front of them. */
const running = async () => {
  const stage = await Stage.open();
  const life = new Life(ownership, "a");
  await life.up(stage.run());
  const unused = new Life("shop/old/0123456789abcdef", "unused");
  const referring = (text: string) => text.includes("${");
  const forms = resources
    .flatMap(formsOf)
    .filter(({ values }) => !referring(JSON.stringify(values)));
  for (const form of forms) await unused.create(stage.run(), form);
  stage.nextRun();
  stage.sent.length = 0;
  return { stage, life, unused };
};

const everything = (stage: Stage, life: Life, unused: Life, another: Life): Promise<unknown>[] => {
  const run = stage.run();
  another.held.push(...life.held);
  return [
    ...unused.held.map(({ form, id, state }) => run(form.definition.kind).delete(id, state)),
    ...life.held.flatMap((entry) => [
      another.create(run, entry.form),
      run(entry.form.definition.kind).read(entry.id, entry.state),
      run(entry.form.definition.kind).read(entry.id, { __provider: "pointer" }),
      life.change(run, entry, { description: "changed" }),
    ]),
  ];
};

test("the first calls of every operation at once share one token and one list of each kind", async () => {
  const { stage, life, unused } = await running();
  await using _ = stage;
  const another = new Life("other/dev/fedcba9876543210", "b");
  await Promise.all(everything(stage, life, unused, another));
  expect(stage.sentTo("TOKEN")).toBe(1);
  for (const { collection } of resources) expect(stage.sentTo(`GET /${collection}`)).toBe(1);
  // The stack's own objects and the new ones: nothing missing, nothing twice, the unused ones gone.
  expect(await idsAt(stage)).toEqual(another.held.map(({ id }) => id).sort());
  expect(another.held).toHaveLength(2 * life.held.length);
});
