import { expect } from "vitest";
import { unknownValue } from "../../../provider/kernel/stand-ins.js";
import { everywhere, type Group, type OwnCell, row } from "../support/cell.js";
import { checked, create, declared, type Entry, handedBack } from "../support/resource.js";
import type { Stage } from "../support/stage.js";

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
      await expect(act(stage, id, entry)).rejects.toThrow(/cannot be the id of/);
      expect(stage.sent, `sent for ${JSON.stringify(id.slice(0, 20))}`).toEqual([]);
    }
    expect(await stage.hub.objects("channels")).toEqual(before);
  },
});

const previewed = { ...declared(), displayName: unknownValue };

export const inputs: Group = {
  title: "Edited state and unknown values",
  rows: [
    row(
      "hostile-id",
      "The state file holds an id such as `..`, an empty one, `a/../b` or 10 kB",
      () => {},
      {
        create:
          "not applicable: a creation takes no id but `adopt`, which is checked (`test/security/hostile-ids.test.ts`)",
        list: hostile((stage, id, { state }) => stage.of("Channel").read(id, state)),
        get: hostile((stage, id) => stage.of("Channel").read(id, { __provider: "pointer" })),
        update: hostile(async (stage, id, { state }) =>
          stage.of("Channel").update(id, state, await checked(stage, declared())),
        ),
        delete: hostile((stage, id, { state }) => stage.of("Channel").delete(id, state)),
        token: "not applicable: takes no id",
      },
    ),
    row("preview", "A preview with values that are not known yet", () => {}, {
      ...everywhere("not applicable: a preview only checks and compares"),
      create: {
        words: "checks without any call",
        test: async (stage) => {
          const { failures } = await stage.of("Channel").check({}, previewed);
          expect(failures).toEqual([]);
          expect(stage.sent).toEqual([]);
        },
      },
      update: {
        words: "checks and compares without any call",
        test: async (stage) => {
          const { id, state } = await create(stage);
          stage.nextRun();
          stage.sent.length = 0;
          const { inputs: news } = await stage.of("Channel").check(state, previewed);
          const { changes } = await stage.of("Channel").diff(id, state, handedBack(news));
          expect(changes).not.toBe(false);
          expect(stage.sent).toEqual([]);
        },
      },
    }),
    row(
      "asset-address",
      "A signed address for an asset leads elsewhere, is plain, private, expired or refused",
      () => {},
      everywhere("not applicable: set-up objects have no assets; belongs to the runtime client"),
    ),
  ],
};
