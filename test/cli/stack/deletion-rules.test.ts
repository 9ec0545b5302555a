import { expect, test } from "vitest";
import { blastRadius } from "../../../cli/stack/blast-radius.js";
import { statesOf } from "../../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../../provider/resources/index.js";
import { managedStack } from "../drift/managed-stack.js";

const none = statesOf({ holdings: [], lookUps: [], pending: [] }, [], true);

test("what is said to be refused is refused by the service, and nothing else, for every object of every kind", async () => {
  const stack = await managedStack();
  await stack.upSamples(() => true);
  const snapshot = await stack.control.control("GET", "/snapshot");
  const collections = await stack.control.collections();
  const kinds = resources.map((definition) => ({
    definition,
    objects: new Map(
      (collections[definition.collection] ?? []).map(({ id, ...wire }) => [id, wire] as const),
    ),
  }));
  const outcomes = new Set<boolean>();
  for (const { definition, objects } of kinds)
    for (const id of objects.keys()) {
      const deletions = [{ definition, id, urn: "urn" }];
      const { blocked } = blastRadius({ deletions, inputsAfter: new Map() }, { kinds }, none);
      const answer = await stack.control.byHand("DELETE", `/${definition.collection}/${id}`).then(
        () => "done",
        (error: unknown) => String(error),
      );
      const users = blocked.flatMap((each) =>
        each.users.map((user) => `${user.kind} ${user.path}`),
      );
      expect({ kind: definition.kind, users, answer, refused: answer !== "done" }).toEqual({
        ...{ kind: definition.kind, users, answer, refused: users.length > 0 },
      });
      outcomes.add(users.length > 0);
      if (answer === "done") await stack.control.control("PUT", "/snapshot", snapshot);
    }
  expect(outcomes).toEqual(new Set([true, false]));
});
