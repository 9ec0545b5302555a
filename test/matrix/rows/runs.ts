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
  update,
} from "../support/resource.js";
import type { Stage } from "../support/stage.js";

const harmless = everywhere("not applicable: reading and signing in leave nothing behind");

const seeded = async (stage: Stage, operation: Operation): Promise<Entry> => {
  const entry =
    acts[operation].needs === "nothing" ? { id: "none", state: {} } : await create(stage);
  stage.nextRun();
  return entry;
};

/** Ends the process of a run in the middle: its connections break, and nothing that it learns is kept. */
const killed = async (stage: Stage, run: (kill: () => void) => Promise<unknown>): Promise<void> => {
  const { service } = stage;
  await run(() => void service.close()).catch(() => undefined);
  await stage.calm();
  stage.nextRun();
};

/** The next run with the state of before, since the killed one saved none. */
const goesOn = async (stage: Stage, operation: Operation, entry: Entry): Promise<void> => {
  const { perform, proven } = acts[operation];
  await proven(stage, await perform(stage, entry), entry);
};

const killedBefore = (operation: Operation, first: string): OwnCell => ({
  words: "nothing was done; the next run does it, once",
  test: async (stage) => {
    const entry = await seeded(stage, operation);
    await killed(stage, async (kill) => {
      stage.wire.add({ on: first, do: "watch", at: "call", run: kill });
      await acts[operation].perform(stage, entry);
    });
    expect(stage.wire.arrived.filter((call) => call === acts[operation].on)).toEqual([]);
    await goesOn(stage, operation, entry);
  },
});

const killedAfter = (operation: Operation, words: string): OwnCell => ({
  words,
  test: async (stage) => {
    const entry = await seeded(stage, operation);
    const { on, perform } = acts[operation];
    await killed(stage, async (kill) => {
      await stage.hub.faults({ on, kind: "drip" });
      stage.wire.add({ on, do: "watch", at: "answer", run: kill });
      await perform(stage, entry);
    });
    await goesOn(stage, operation, entry);
  },
});

const killedUnsaved = (operation: Operation, words: string): OwnCell => ({
  words,
  test: async (stage) => {
    const entry = await seeded(stage, operation);
    await acts[operation].perform(stage, entry);
    stage.nextRun();
    await goesOn(stage, operation, entry);
  },
});

/** With the state saved there is nothing left to do. */
const quiet = async (stage: Stage, { id, state }: Entry, inputs: Record<string, unknown>) => {
  stage.nextRun();
  stage.sent.length = 0;
  const news = await checked(stage, inputs);
  expect(await stage.of("Channel").diff(id, state, news)).toEqual({ changes: false });
  expect(stage.sent).toEqual([]);
};

const nothingLeft = "the next run finds no difference and makes no call at all";

export const interruptions: Group = {
  title: "Killed processes (kill -9; with the real command line: `test/built`)",
  rows: [
    row("killed-before", "The process dies before the call", () => {}, {
      ...harmless,
      create: killedBefore("create", "GET /channels"),
      update: killedBefore("update", "GET /channels/{id}"),
      delete: killedBefore("delete", "TOKEN"),
    }),
    row(
      "killed-after",
      "The process dies when the service has acted, before the answer is there",
      () => {},
      {
        ...harmless,
        create: killedAfter(
          "create",
          "the next run finds the object by its mark and takes it over",
        ),
        update: killedAfter("update", "the next run writes the same again"),
        delete: killedAfter("delete", "the next run takes the 404 for done"),
      },
    ),
    row("killed-unsaved", "The process dies with the answer, before the state is saved", () => {}, {
      ...harmless,
      create: killedUnsaved(
        "create",
        "the next run finds the object by its mark and takes it over",
      ),
      update: killedUnsaved("update", "the next run writes the same again"),
      delete: killedUnsaved("delete", "the next run takes the 404 for done"),
    }),
    row("killed-saved", "The process dies when the state is saved", () => {}, {
      ...harmless,
      create: {
        words: nothingLeft,
        test: async (stage) => quiet(stage, await create(stage), declared()),
      },
      update: {
        words: nothingLeft,
        test: async (stage) => {
          const changed = declared({ displayName: "New" });
          await quiet(stage, await update(stage, await create(stage), changed), changed);
        },
      },
      delete: "not applicable: the resource is no longer in the state",
    }),
  ],
};

const hookless = everywhere(
  "not applicable: hooks belong to creations, changes and deletions of resources",
);

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

/** A leftover is taken over and cannot be written: the creation fails with the id of the object. */
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
                /It is unknown whether the call created the orchestration/,
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
  ],
};
