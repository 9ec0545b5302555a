import { expect } from "vitest";
import { kiosk } from "../../lifecycle/steps.js";
import {
  type Arrange,
  always,
  done,
  everywhere,
  type Group,
  type OwnCell,
  row,
} from "../support/cell.js";
import { checked, create, type Entry } from "../support/resource.js";
import type { Stage } from "../support/stage.js";

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
          await stage.hub.faults(
            { on: "POST /channels", kind: "drop-after-commit" },
            { on: "GET /channels", kind: "stale-list", ms: 60_000, after: 1, times: always },
          );
          stage.hub.emulator.advance(1000);
          await expect(create(stage)).rejects.toThrow(/unique/);
          await stage.calm();
          stage.nextRun();
          const { id } = await create(stage);
          expect(await stage.hub.objects("channels")).toMatchObject([{ id }]);
        },
      },
    }),
  ],
};

const untouched = {
  ...done(1, "nothing waits longer and no other token is fetched: only the monotonic clock counts"),
  waits: [0, 0] as const,
};

export const clocks: Group = {
  title: "Clocks",
  rows: [
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
