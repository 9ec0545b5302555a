import { expect } from "vitest";
import { channel } from "../../../provider/resources/channel.js";
import { orchestration } from "../../../provider/resources/orchestration.js";
import { kiosk } from "../../lifecycle/steps.js";
import {
  type Arrange,
  always,
  done,
  type Ending,
  everywhere,
  fails,
  type Group,
  type OwnCell,
  row,
} from "../support/cell.js";
import {
  acceptAnyReference,
  checked,
  create,
  type Entry,
  flow,
  type Json,
  someId,
} from "../support/resource.js";
import type { Stage } from "../support/stage.js";
import type { Passing } from "../support/wire.js";

/** Twenty-seven objects of somebody else, so that the list has a second page. */
const crowded = async (stage: Stage): Promise<void> => {
  const icon = "aVZC";
  for (let number = 1; number <= 27; number++) {
    await stage.service.create(channel, {
      type: `custom.other-${number}`,
      displayName: "Other",
      icon,
    });
  }
  stage.nextRun();
};

const secondPage =
  (status: number, times: number): Arrange =>
  async (stage) => {
    await stage.hub.faults({ on: "GET /channels", kind: "status", status, after: 1, times });
  };

const applications = { agentConfiguration: { agents: [{ id: someId }] } };

/** Of a kind whose names need not be unique, so that the service itself keeps nobody from making a second one. */
const crowdedFlows = async (stage: Stage): Promise<void> => {
  await acceptAnyReference(stage);
  for (let number = 1; number <= 27; number++) {
    await stage.service.create(orchestration, { name: `other-${number}`, applications });
  }
  stage.nextRun();
};

/** Refuses every page but the first. */
const onlyFirst = ({ status, text }: Passing): Passing =>
  JSON.parse(text).paginationInfo?.pagenum === 1 ? { status, text } : { status: 400, text: "{}" };

/** One object beside the crowd, whatever page it is on. */
const onlyOne = async (stage: Stage): Promise<unknown> => {
  const objects = await stage.hub.objects("channels");
  const own = objects.filter(({ type }) => type === "custom.kiosk");
  expect(own).toHaveLength(1);
  return own[0]?.id;
};

const pagedCreation = (arrange: Arrange, { words, fails: message }: Ending): OwnCell => ({
  words,
  test: async (stage) => {
    await crowded(stage);
    await arrange(stage, "", "create");
    if (message) {
      await expect(create(stage)).rejects.toThrow(message);
      expect(await stage.hub.objects("channels")).toHaveLength(27);
      await stage.calm();
      stage.nextRun();
    }
    const { id } = await create(stage);
    expect(await onlyOne(stage)).toBe(id);
  },
});

const pagedReading = (arrange: Arrange, { words, fails: message }: Ending): OwnCell => ({
  words,
  test: async (stage) => {
    await crowded(stage);
    const entry = await create(stage);
    stage.nextRun();
    await arrange(stage, "", "list");
    const reading = stage.of("Channel").read(entry.id, entry.state);
    if (message) await expect(reading).rejects.toThrow(message);
    else expect(await reading).toMatchObject({ id: entry.id });
    expect(await onlyOne(stage)).toBe(entry.id);
  },
});

/** A creation of an orchestration that is refused before any POST. */
const refusedFlow = (
  message: RegExp,
  words: string,
  /** Gives the number of orchestrations that are there. */
  arrange: (stage: Stage) => Promise<number>,
): OwnCell => ({
  words,
  test: async (stage) => {
    const others = await arrange(stage);
    await expect(create(stage, flow, "Orchestration")).rejects.toThrow(message);
    expect(stage.sentTo("POST /orchestrations")).toBe(others);
    await stage.calm();
    stage.nextRun();
    const { id } = await create(stage, flow, "Orchestration");
    const objects = await stage.hub.objects("orchestrations");
    expect(objects.filter(({ name }) => name === "flow")).toMatchObject([{ id }]);
  },
});

const repeated = done(0, "the page is asked for again, up to four times");

/** The POST is answered by nobody, and the list does not show the object yet. */
const invisible: Arrange = async (stage) => {
  await stage.hub.faults(
    { on: "POST /channels", kind: "drop-after-commit" },
    { on: "GET /channels", kind: "stale-list", ms: 60_000, after: 1, times: always },
  );
  stage.hub.emulator.advance(1000);
};

const behind: Arrange = (stage, on) =>
  stage.hub.faults({ on, kind: "stale-list", ms: 60_000, times: always });

export const lists: Group = {
  title: "Lists",
  rows: [
    row("The list does not show what was made a moment ago", behind, {
      list: done(1, "absence from the list is confirmed by the object itself, which is there"),
      create: {
        words:
          "after a lost answer the object is POSTed again and the service refuses its name; the next run finds the object and takes it over",
        test: async (stage) => {
          await invisible(stage, "", "create");
          await expect(create(stage)).rejects.toThrow(/unique/);
          await stage.calm();
          stage.nextRun();
          const { id } = await create(stage);
          expect(await onlyOne(stage)).toBe(id);
        },
      },
    }),
    row("The second page fails once", () => {}, {
      create: pagedCreation(secondPage(503, 1), repeated),
      list: pagedReading(secondPage(503, 1), repeated),
    }),
    row("The second page always fails", () => {}, {
      create: pagedCreation(
        secondPage(503, always),
        fails(
          0,
          /failed in the service \(503/,
          "fails before any POST; the next run makes the object once",
        ),
      ),
      list: pagedReading(
        secondPage(503, always),
        fails(0, /failed in the service \(503/, "fails: half a list proves nothing"),
      ),
    }),
    row("The second page is refused", () => {}, {
      list: pagedReading(
        secondPage(400, always),
        done(0, "absence from the first page is confirmed by the object itself, which is there"),
      ),
      create: refusedFlow(
        /returns only part of the list/,
        "fails before any POST of an orchestration, whose name need not be unique: it may be there already; the next run makes it",
        async (stage) => {
          await crowdedFlows(stage);
          stage.wire.add({
            on: "GET /orchestrations",
            do: "answer",
            with: onlyFirst,
            times: always,
          });
          return 27;
        },
      ),
    }),
    row("The list is forbidden", () => {}, {
      create: refusedFlow(
        /Allow the client to list orchestrations/,
        "fails before any POST of an orchestration, whose name need not be unique: it may be there already; the next run makes it",
        async (stage) => {
          await acceptAnyReference(stage);
          await stage.hub.faults({
            on: "GET /orchestrations",
            kind: "forbidden-list",
            times: always,
          });
          return 0;
        },
      ),
    }),
  ],
};

const onlyId = async (stage: Stage): Promise<string> => {
  const [object] = await stage.hub.objects("channels");
  return String(object?.id);
};

/** Somebody else writes: another text, and a member that the program does not declare. */
const restrictions = { inbound: { maxTextLength: 7 } };

const changedBehind: Arrange = async (stage) => {
  const [object] = await stage.hub.objects("channels");
  const { id, created, modified, ...rest } = object ?? {};
  await stage.service.replace(channel, String(id), {
    ...rest,
    displayName: "Theirs",
    restrictions,
  });
  stage.nextRun();
};

const deletedBehind: Arrange = async (stage) => {
  await stage.service.remove(channel, await onlyId(stage));
  stage.nextRun();
};

const drift = (properties: (state: Json) => Json, words: string): OwnCell => ({
  words,
  test: async (stage) => {
    const { id, state } = await create(stage);
    await changedBehind(stage, "", "list");
    const { inputs } = await stage.of("Channel").read(id, properties(state));
    expect(inputs).toMatchObject({ displayName: "Theirs" });
    const isManaged = "displayName" in properties(state);
    expect("restrictions" in (inputs ?? {})).toBe(!isManaged);
  },
});

const untouched = {
  ...done(1, "nothing waits longer and no other token is fetched: only the monotonic clock counts"),
  waits: [0, 0] as const,
};

export const neighbours: Group = {
  title: "Others at work, and clocks",
  rows: [
    row("The object was changed behind the program's back", changedBehind, {
      list: drift(
        (state) => state,
        "a refresh shows what was changed, and nothing that the program does not declare",
      ),
      get: drift(() => ({ __provider: "pointer" }), "shows the object as it is"),
      update: {
        words: "what the program declares wins, what it does not declare stays",
        test: async (stage) => {
          const { id, state } = await create(stage);
          await changedBehind(stage, "", "update");
          await stage.of("Channel").update(id, state, await checked(stage, kiosk()));
          expect(await stage.hub.objects("channels")).toMatchObject([
            { id, displayName: "Kiosk", restrictions },
          ]);
        },
      },
      delete: done(1, "deletes it all the same"),
    }),
    row("The object was deleted behind the program's back", deletedBehind, {
      list: {
        words:
          "absence from the list is confirmed by the object's own 404: the engine learns that it is gone",
        test: async (stage) => {
          const { id, state } = await create(stage);
          await deletedBehind(stage, "", "list");
          stage.sent.length = 0;
          expect(await stage.of("Channel").read(id, state)).toEqual({ id: "", props: {} });
          expect(stage.sent).toEqual(["TOKEN", "GET /channels", "GET /channels/{id}"]);
        },
      },
      get: {
        words: "fails and says that there is no such object",
        test: async (stage) => {
          const { id } = await create(stage);
          await deletedBehind(stage, "", "get");
          const reading = stage.of("Channel").read(id, { __provider: "pointer" });
          await expect(reading).rejects.toThrow("there is no channel with this ID");
        },
      },
      update: {
        words: "fails and says what to run; after a refresh the object is made again, once",
        test: async (stage) => {
          const { id, state } = await create(stage);
          await deletedBehind(stage, "", "update");
          const inputs = await checked(stage, kiosk({ displayName: "New" }));
          const updating = stage.of("Channel").update(id, state, inputs);
          await expect(updating).rejects.toThrow(/pulumi refresh/);
          stage.nextRun();
          const made = await create(stage, kiosk({ displayName: "New" }));
          expect(await stage.hub.objects("channels")).toMatchObject([{ id: made.id }]);
        },
      },
      delete: done(1, "the 404 counts as done"),
    }),
    row(
      "The machine's clock jumps an hour back in mid-run",
      async (stage) => {
        await stage.service.token();
        stage.wallOffset = -3600_000;
      },
      everywhere(untouched, { token: { ...untouched, sends: 0 } }),
    ),
  ],
};

const hostileIds = ["..", "", "a/../b", "x".repeat(10_240)];

/** With an object there, so that there is something to hit. */
const hostile = (
  act: (stage: Stage, id: string, entry: Entry) => Promise<unknown>,
  ids = hostileIds,
): OwnCell => ({
  words: "fails before anything is sent, not even for a token; nothing is touched",
  test: async (stage) => {
    const entry = await create(stage);
    const before = await stage.hub.objects("channels");
    for (const id of ids) {
      stage.nextRun();
      stage.sent.length = 0;
      await expect(act(stage, id, entry)).rejects.toThrow(/cannot be the ID of/);
      expect(stage.sent, `sent for ${JSON.stringify(id.slice(0, 20))}`).toEqual([]);
    }
    expect(await stage.hub.objects("channels")).toEqual(before);
  },
});

export const inputs: Group = {
  title: "Edited state",
  rows: [
    row("The state file holds an id such as `..`, an empty one, `a/../b` or 10 kB", () => {}, {
      list: hostile((stage, id, { state }) => stage.of("Channel").read(id, state)),
      get: hostile((stage, id) => stage.of("Channel").read(id, { __provider: "pointer" })),
      update: hostile(async (stage, id, { state }) =>
        stage.of("Channel").update(id, state, await checked(stage, kiosk())),
      ),
      delete: hostile((stage, id, { state }) => stage.of("Channel").delete(id, state)),
    }),
  ],
};
