import { expect } from "vitest";
import { acts, type Operation } from "../support/acts.js";
import { everywhere, type Group, type OwnCell, row } from "../support/cell.js";
import {
  acceptAnyReference,
  checked,
  create,
  declared,
  type Entry,
  flow,
  handedBack,
  type Json,
} from "../support/resource.js";
import type { Stage } from "../support/stage.js";

const hookless = everywhere(
  "not applicable: hooks belong to creations, changes and deletions of resources",
);

const seeded = async (stage: Stage, operation: Operation): Promise<Entry> => {
  const isThere = acts[operation].needs === "the object";
  const entry = isThere ? await create(stage) : { id: "none", state: {} };
  stage.nextRun();
  return entry;
};

/** Fails once; the hook has the engine ask the same process again. */
const repeated = (operation: Operation, words: string, fault: Json): OwnCell => ({
  words,
  test: async (stage) => {
    const entry = await seeded(stage, operation);
    const { on, perform, proven } = acts[operation];
    await stage.hub.faults({ on, ...fault });
    await expect(perform(stage, entry)).rejects.toThrow();
    await proven(stage, await perform(stage, entry), entry);
  },
});

const refused = (operation: Operation): OwnCell =>
  repeated(operation, "the repeat does it, once", { kind: "status", status: 400 });

/** A left-over is taken over and cannot be written: the creation fails with the id of the object. */
const incomplete = async (stage: Stage): Promise<Json> => {
  await create(stage);
  stage.nextRun();
  await stage.hub.faults({ on: "PUT /channels/{id}", kind: "status", status: 400 });
  const inputs = declared({ displayName: "New" });
  const failure: unknown = await create(stage, inputs).catch((error: unknown) => error);
  expect(failure).toMatchObject({ id: expect.any(String), reasons: [expect.any(String)] });
  return failure as Json;
};

const oneNew = async (stage: Stage, { id }: Json): Promise<void> =>
  expect(await stage.hub.objects("channels")).toMatchObject([{ id, displayName: "New" }]);

export const hooks: Group = {
  title: "Hooks of the engine",
  rows: [
    row("hook-repeats", "The service refuses once, and an `onError` hook repeats", () => {}, {
      ...hookless,
      create: refused("create"),
      update: refused("update"),
      delete: refused("delete"),
    }),
    row(
      "hook-repeats-unclear",
      "The answer is lost, the list that would show the effect is forbidden, and an `onError` hook repeats",
      () => {},
      {
        ...hookless,
        create: {
          words:
            "no other POST is sent until the list can be read; then the object is found, however often the hook repeats",
          test: async (stage) => {
            await acceptAnyReference(stage);
            await stage.hub.faults(
              { on: "POST /orchestrations", kind: "drop-after-commit" },
              { on: "GET /orchestrations", kind: "forbidden-list", after: 1, times: 3 },
            );
            for (let attempt = 1; attempt <= 3; attempt += 1)
              await expect(create(stage, flow, "Orchestration")).rejects.toThrow(
                /Whether it made the orchestration is not known/,
              );
            const { id } = await create(stage, flow, "Orchestration");
            expect(await stage.hub.objects("orchestrations")).toMatchObject([{ id }]);
            expect(stage.sentTo("POST /orchestrations")).toBe(1);
          },
        },
        update: repeated("update", "the repeat reads the object and writes the same again", {
          kind: "drop-after-commit",
          times: 5,
        }),
        delete: "not applicable: asks for no list; see `hook-repeats/delete`",
      },
    ),
    row(
      "hook-repeats-incomplete",
      "The object is there but could not be written, and an `onError` hook repeats",
      () => {},
      {
        ...hookless,
        create: {
          words:
            "the engine of today asks for the creation again: it takes the same object and writes it",
          test: async (stage) => {
            const failure = await incomplete(stage);
            await create(stage, declared({ displayName: "New" }));
            await oneNew(stage, failure);
          },
        },
        update: {
          words:
            "an engine that goes on with an update (pulumi#24684) hands back what the failure gave: it is written",
          test: async (stage) => {
            const failure = await incomplete(stage);
            const inputs = await checked(stage, declared({ displayName: "New" }));
            const { id, properties } = failure;
            await stage.of("Channel").update(String(id), handedBack(properties), inputs);
            await oneNew(stage, failure);
          },
        },
        delete: "not applicable: a deletion ends with the object or without it",
      },
    ),
    row("hook-fails", "A `before` or an `after` hook fails", () => {}, {
      ...hookless,
      create:
        "not applicable: before, the engine does not ask the package; after, the state holds the result (`test/built/hooks.test.ts`)",
      update:
        "not applicable: before, the engine does not ask the package; after, the state holds the result (`test/built/hooks.test.ts`)",
      delete:
        "not applicable: before, the engine does not ask the package; after, the state holds the result (`test/built/hooks.test.ts`)",
    }),
  ],
};
