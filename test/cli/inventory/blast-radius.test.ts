import fc from "fast-check";
import { expect, test } from "vitest";
import {
  blastRadius,
  blastRadiusLines,
  changesOfDestroy,
  changesOfPreview,
  type PlannedChanges,
} from "../../../cli/inventory/blast-radius.js";
import { statesOf } from "../../../cli/pulumi/stack-states.js";
import { typeToken } from "../../../provider/kernel/type-tokens.js";
import type { Holding } from "../../../provider/lifecycle/ownership/stack-states.js";
import { resources } from "../../../provider/resources/index.js";
import { kindOf } from "../../emulator/running.js";
import { managedStack } from "./stack-sandbox.js";

const objects: Readonly<Record<string, Readonly<Record<string, Record<string, unknown>>>>> = {
  Authentication: { a1: { name: "auth" } },
  ClientApplication: {
    c1: { name: "ours", roles: [{ name: "custom_bot", authentication: { id: "a1" } }] },
    c2: { name: "by hand", roles: [{ name: "custom_bot", authentication: { id: "a1" } }] },
  },
};

const account = {
  kinds: resources.map((definition) => ({
    definition,
    objects: new Map(Object.entries(objects[definition.kind] ?? {})),
  })),
};

const holding = (kind: string, id: string, more: Partial<Holding> = {}): Holding => ({
  ...{ stack: "prod", urn: `urn:${id}`, kind, id, own: true },
  ...more,
});

const states = (holdings: readonly Holding[]) =>
  statesOf({ name: "prod", project: "shop", holdings, lookUps: [], pending: [] }, [], true);

const deleting = (...targets: readonly (readonly [string, string])[]): PlannedChanges => ({
  deletions: targets.map(([kind, id]) => ({
    definition: kindOf(kind),
    id,
    urn: `urn:${id}`,
  })),
  inputsAfter: new Map(),
});

test("users that stay are named, managed or not, with the order that works", () => {
  const own = states([holding("Authentication", "a1"), holding("ClientApplication", "c1")]);
  const found = blastRadius(deleting(["Authentication", "a1"], ["ClientApplication", "c1"]), {
    ...account,
    states: own,
  });
  expect(found).toEqual({
    deletions: 2,
    blocked: [
      {
        ...{ kind: "Authentication", name: "auth", id: "a1", urn: "urn:a1" },
        users: [
          {
            ...{ kind: "ClientApplication", name: "by hand", id: "c2" },
            ...{ path: "roles[0].authentication", managed: "unmanaged" },
          },
        ],
      },
    ],
    order: [
      { action: "release", kind: "ClientApplication", name: "by hand", id: "c2" },
      { action: "delete", kind: "ClientApplication", name: "ours", id: "c1" },
      { action: "delete", kind: "Authentication", name: "auth", id: "a1" },
    ],
  });
  const lines = blastRadiusLines(found);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(lines.join(" ")).toContain("not managed by Pulumi");
});

test("a user that the same run changes or deletes is not in the way", () => {
  const own = states([
    holding("Authentication", "a1"),
    holding("ClientApplication", "c1"),
    holding("ClientApplication", "c2"),
  ]);
  const changes = deleting(["Authentication", "a1"], ["ClientApplication", "c1"]);
  const inputs = { name: "by hand", roles: [{ name: "custom_bot", authentication: "a2" }] };
  const moved = { ...changes, inputsAfter: new Map([["urn:c2", inputs]]) };
  expect(blastRadius(moved, { ...account, states: own })).toMatchObject({ blocked: [], order: [] });
  const kept = {
    ...changes,
    inputsAfter: new Map([["urn:c2", { ...inputs, roles: [{ authentication: "a1" }] }]]),
  };
  expect(blastRadius(kept, { ...account, states: own }).blocked).toMatchObject([
    { users: [{ id: "c2", managed: "own" }] },
  ]);
});

test("what is kept, looked up, replaced in place or not ours is no deletion", () => {
  const type = typeToken("Channel");
  const resource = { urn: "urn:x", type, id: "x" };
  const steps = [
    { op: "delete", urn: "urn:x", oldState: resource },
    { op: "delete", urn: "urn:y", oldState: { ...resource, id: "y", retainOnDelete: true } },
    { op: "delete-replaced", urn: "urn:z", oldState: { ...resource, id: "z" } },
    { op: "delete", urn: "urn:q", oldState: { ...resource, type: "aws:s3/bucket:Bucket" } },
    { op: "update", urn: "urn:u", oldState: resource, newState: { ...resource, inputs: { a: 1 } } },
  ];
  const { deletions, inputsAfter } = changesOfPreview(steps);
  expect(deletions.map(({ id }) => id)).toEqual(["x"]);
  expect([...inputsAfter]).toEqual([["urn:u", { a: 1 }]]);
  const held = [resource, { ...resource, external: true }];
  expect(changesOfDestroy(held).deletions).toHaveLength(1);
});

test("in whichever order a preview has its deletions, the answer is the same", () => {
  const user = (name: string, authentication: string) => ({
    name,
    roles: [{ name: "custom_bot", authentication: { id: authentication } }],
  });
  const ids = ["a1", "a2", "a3"];
  const live: typeof objects = {
    Authentication: Object.fromEntries(ids.map((id) => [id, { name: id === "a3" ? "a" : id }])),
    ClientApplication: Object.fromEntries(ids.map((id) => [`c-${id}`, user("same", id)])),
  };
  const kinds = account.kinds.map(({ definition }) => ({
    definition,
    objects: new Map(Object.entries(live[definition.kind] ?? {})),
  }));
  const found = (order: readonly string[]) =>
    blastRadius(deleting(...order.map((id) => ["Authentication", id] as const)), {
      kinds,
      states: states(ids.map((id) => holding("Authentication", id))),
    });
  expect(found(ids).blocked).toHaveLength(3);
  fc.assert(
    fc.property(fc.shuffledSubarray(ids, { minLength: 3 }), (order) => {
      expect(found(order)).toEqual(found(ids));
    }),
  );
});

const none = statesOf({ holdings: [], lookUps: [], pending: [] }, [], true);

test("what is said to be refused is refused by the service, and nothing else, for every object of every kind", async () => {
  const stack = await managedStack();
  await stack.upForms(() => true);
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
      const { blocked } = blastRadius(
        { deletions, inputsAfter: new Map() },
        { kinds, states: none },
      );
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
