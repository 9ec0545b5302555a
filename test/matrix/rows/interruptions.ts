import { expect } from "vitest";
import { acts, type Operation } from "../support/acts.js";
import { everywhere, type Group, type OwnCell, row } from "../support/cell.js";
import { checked, create, declared, type Entry, update } from "../support/resource.js";
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
    row(
      "two-pipelines",
      "Two runs on one stack at once",
      () => {},
      everywhere(
        "not applicable: the engine locks the stack and refuses the second run before the package is asked",
      ),
    ),
  ],
};
