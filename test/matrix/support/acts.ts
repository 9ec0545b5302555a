import { expect } from "vitest";
import { kiosk } from "../../lifecycle/steps.js";
import { checked, create, type Entry, type Json } from "./resource.js";
import type { Stage } from "./stage.js";

/** The columns of the matrix: what the client does while the fault strikes. */
export const operations = ["create", "list", "get", "update", "delete", "token"] as const;

export type Operation = (typeof operations)[number];

/** An operation through the life cycle: what is there before, the call, and what success means. */
interface Act {
  /** Where the fault strikes. */
  readonly on: string;
  readonly needs: "nothing" | "the object";
  readonly perform: (stage: Stage, entry: Entry) => Promise<unknown>;
  /** Proves that the operation did what it is for. */
  readonly proven: (stage: Stage, result: unknown, entry: Entry) => Promise<void>;
}

const changed = kiosk({ displayName: "New" });

/** Exactly one object, with our mark: neither lost nor made twice. */
const oneObject = async (stage: Stage, id: unknown, displayName: string): Promise<void> => {
  const objects = await stage.hub.objects("channels");
  expect(objects).toMatchObject([
    { id, displayName, description: expect.stringContaining("[pulumi: shop/prod kiosk #") },
  ]);
};

const creation = (on: string): Act => ({
  on,
  needs: "nothing",
  perform: (stage) => create(stage),
  proven: (stage, result) => oneObject(stage, (result as Json | undefined)?.id, "Kiosk"),
});

const reading = (on: string, properties: (entry: Entry) => Json): Act => ({
  on,
  needs: "the object",
  perform: (stage, entry) => stage.of("Channel").read(entry.id, properties(entry)),
  proven: async (stage, result, { id }) => {
    expect(result).toMatchObject({ id, props: { displayName: "Kiosk" } });
    await oneObject(stage, id, "Kiosk");
  },
});

export const acts: Readonly<Record<Operation, Act>> = {
  create: creation("POST /channels"),
  list: reading("GET /channels", ({ state }) => state),
  get: reading("GET /channels/{id}", ({ state }) => ({ __provider: state.__provider })),
  update: {
    on: "PUT /channels/{id}",
    needs: "the object",
    perform: async (stage, { id, state }) =>
      stage.of("Channel").update(id, state, await checked(stage, changed)),
    proven: (stage, _, { id }) => oneObject(stage, id, "New"),
  },
  delete: {
    on: "DELETE /channels/{id}",
    needs: "the object",
    perform: (stage, { id, state }) => stage.of("Channel").delete(id, state),
    proven: async (stage) => expect(await stage.hub.objects("channels")).toEqual([]),
  },
  token: creation("TOKEN"),
};
