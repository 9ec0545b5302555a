import { expect, test } from "vitest";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";
import { Stage } from "../matrix/support/stage.js";
import { formsOf, type Json } from "../support/forms.js";
import { Life, objectsAt } from "./support/life.js";

/** Two states that even have the same project and stack name. */
const ownerships = ["shop/prod/aaaaaaaaaaaaaaaa", "shop/prod/bbbbbbbbbbbbbbbb"] as const;

const objectsOf = async (stage: Stage): Promise<ReadonlyMap<string, Json>> =>
  new Map((await objectsAt(stage)).map((object) => [String(object.id), object]));

const runs = (stage: Stage) => {
  const first = stage.run();
  stage.nextRun();
  return [first, stage.run()] as const;
};

const held = async (stage: Stage, life: Life): Promise<unknown[]> => {
  const objects = await objectsOf(stage);
  return life.held.map(({ id }) => objects.get(id));
};

test("two stacks of the same project and stack name live on one tenant without touching each other", async () => {
  await using stage = await Stage.open();
  const [ours, theirs] = [new Life(ownerships[0], "a"), new Life(ownerships[1], "b")];
  const [run, other] = runs(stage);
  await Promise.all([ours.up(run), theirs.up(other)]);
  expect((await objectsOf(stage)).size).toBe(ours.held.length + theirs.held.length);
  const before = await held(stage, theirs);
  expect(before).not.toContain(undefined);
  await Promise.all([ours.update(run, { description: "changed" }), theirs.refresh(other)]);
  expect(await held(stage, theirs)).toEqual(before);
  stage.nextRun();
  await ours.destroy(stage.run());
  expect(await held(stage, theirs)).toEqual(before);
  expect((await objectsOf(stage)).size).toBe(theirs.held.length);
});

test("two stacks that both lose answers find each its own objects again", async () => {
  await using stage = await Stage.open();
  const [ours, theirs] = [new Life(ownerships[0], "a"), new Life(ownerships[1], "b")];
  const [run, other] = runs(stage);
  for (const { collection } of resources) {
    await stage.hub.faults({ on: `POST /${collection}`, kind: "drop-after-commit", times: 2 });
  }
  await Promise.all([ours.up(run), theirs.up(other)]);
  const ids = [...ours.held, ...theirs.held].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...(await objectsOf(stage)).keys()].sort()).toEqual(ids.sort());
});

test("a name of the other stack is refused for every kind, also as something to adopt", async () => {
  await using stage = await Stage.open();
  const [ours, theirs] = [new Life(ownerships[0], "same"), new Life(ownerships[1], "same")];
  await theirs.up(stage.run());
  const before = await objectsOf(stage);
  stage.nextRun();
  ours.held.push(...theirs.held);
  for (const form of setUpOrder(resources).flatMap(formsOf)) {
    const wanted = theirs.held.find((entry) => entry.form.name === form.name);
    for (const changes of [{}, { adopt: true }, { adopt: wanted?.id }]) {
      await expect(ours.create(stage.run(), form, changes), form.name).rejects.toThrow(
        /belongs to another Pulumi resource or state: shop\/prod.*Use another (name|type), or hand the object over.*orphans --release --id.*#owned_elsewhere/s,
      );
    }
  }
  expect(await objectsOf(stage)).toEqual(before);
});
