import { expect } from "vitest";
import { account } from "../../../provider/resources/account.js";
import { channel } from "../../../provider/resources/channel.js";
import { owned } from "../../support/emulated.js";
import { type Arrange, done, everywhere, type Group, type OwnCell, row } from "../support/cell.js";
import { checked, create, declared, type Json } from "../support/resource.js";
import type { Stage } from "../support/stage.js";

const foreignAccount = (channelId: string): Json => ({
  name: "theirs",
  address: "theirs-01",
  channel: { id: channelId },
  chatConfigurations: { timeout: 30 },
});

const onlyId = async (stage: Stage): Promise<string> => {
  const [object] = await stage.hub.objects("channels");
  return String(object?.id);
};

/** Somebody else writes: another text, and a member that no field knows. */
const changedBehind: Arrange = async (stage) => {
  const [object] = await stage.hub.objects("channels");
  const { id, created, modified, ...rest } = object ?? {};
  await stage.service.replace(channel, String(id), {
    ...rest,
    displayName: "Theirs",
    region: "eu",
  });
  stage.nextRun();
};

const deletedBehind: Arrange = async (stage) => {
  await stage.service.remove(channel, await onlyId(stage));
  stage.nextRun();
};

const drift = (bag: (state: Json) => Json, words: string): OwnCell => ({
  words,
  test: async (stage) => {
    const { id, state } = await create(stage);
    await changedBehind(stage, "", "list");
    const { inputs } = await stage.of("Channel").read(id, bag(state));
    expect(inputs).toMatchObject({ displayName: "Theirs" });
    expect(inputs).not.toHaveProperty("region");
  },
});

/** Five creations each by two runs of two stacks, on a plan that takes one call a second. */
const twoAtOnce = (
  act: (stage: Stage, names: readonly string[], owner: string) => Promise<unknown>,
  words: string,
): OwnCell => ({
  words,
  emulator: { plan: "developer", burst: 1 },
  racing: true,
  test: async (stage) => {
    const first = act(stage, ["a1", "a2", "a3"], "shop/one/0123456789abcdef");
    stage.nextRun();
    const second = act(stage, ["b1", "b2", "b3"], "shop/two/fedcba9876543210");
    await Promise.all([first, second]);
    const types = (await stage.hub.objects("channels")).map(({ type }) => type);
    expect(types.sort()).toEqual(
      ["a1", "a2", "a3", "b1", "b2", "b3"].map((name) => `custom.${name}`),
    );
    expect(stage.waited).toBeGreaterThan(0);
  },
});

const makeAll = async (stage: Stage, names: readonly string[], owner: string): Promise<void> => {
  const channels = stage.of("Channel");
  const values = { displayName: "Kiosk", icon: "aVZC" };
  const make = async (name: string) =>
    channels.create(
      await checked(stage, owned(name, { ...values, type: `custom.${name}` }, owner)),
    );
  await Promise.all(names.map(make));
};

const wallMoves =
  (hours: number): Arrange =>
  async (stage) => {
    await stage.service.token();
    stage.wallOffset = hours * 3600_000;
  };

const untouched = {
  ...done(1, "nothing waits longer and no other token is fetched: only the monotonic clock counts"),
  waits: [0, 0] as const,
};

export const neighbours: Group = {
  title: "Others at work, and clocks",
  rows: [
    row("changed-behind", "The object was changed behind the program's back", changedBehind, {
      create: "not applicable: there is no object yet",
      list: drift(
        (state) => state,
        "a refresh shows what was changed, and nothing that no field knows",
      ),
      get: drift(() => ({ __provider: "pointer" }), "shows the object as it is"),
      update: {
        words: "what the program declares wins, what no field knows stays",
        test: async (stage) => {
          const { id, state } = await create(stage);
          await changedBehind(stage, "", "update");
          await stage.of("Channel").update(id, state, await checked(stage, declared()));
          expect(await stage.hub.objects("channels")).toMatchObject([
            { id, displayName: "Kiosk", region: "eu" },
          ]);
        },
      },
      delete: done(1, "deletes it all the same"),
      token: "not applicable: no object is concerned",
    }),
    row("deleted-behind", "The object was deleted behind the program's back", deletedBehind, {
      create: "not applicable: there is no object yet",
      list: {
        words:
          "absence from the list is confirmed by the object's own 404: the engine is told that it is gone",
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
          await expect(reading).rejects.toThrow("there is no channel with this id");
        },
      },
      update: {
        words: "fails and says what to run; after a refresh the object is made again, once",
        test: async (stage) => {
          const { id, state } = await create(stage);
          await deletedBehind(stage, "", "update");
          const inputs = await checked(stage, declared({ displayName: "New" }));
          const updating = stage.of("Channel").update(id, state, inputs);
          await expect(updating).rejects.toThrow(/pulumi refresh/);
          stage.nextRun();
          const made = await create(stage, declared({ displayName: "New" }));
          expect(await stage.hub.objects("channels")).toMatchObject([{ id: made.id }]);
        },
      },
      delete: done(1, "the 404 counts as done"),
      token: "not applicable: no object is concerned",
    }),
    row("used-by-others", "A foreign object uses it", () => {}, {
      ...everywhere("not applicable: only a deletion is refused"),
      delete: {
        words: "fails and names the user with kind, name, id and whose it is; nothing is deleted",
        test: async (stage) => {
          const { id, state } = await create(stage);
          const { id: user } = await stage.service.create(account, foreignAccount(id));
          stage.nextRun();
          await expect(stage.of("Channel").delete(id, state)).rejects.toThrow(
            `it is used by account "theirs" (id ${user}, not managed by Pulumi)`,
          );
          expect(await stage.hub.objects("channels")).toHaveLength(1);
          expect(await stage.hub.objects("accounts")).toHaveLength(1);
        },
      },
    }),
    row("two-stacks", "Two stacks work on one tenant at once, over its rate", () => {}, {
      ...everywhere(
        "not applicable: the rate is one per tenant and endpoint, whoever calls; see `two-stacks/create` and the rate limits",
      ),
      create: twoAtOnce(
        makeAll,
        "both learn from the refusals, wait, and finish; nothing is made twice",
      ),
    }),
    row("same-name", "Another stack has an object with the same name", () => {}, {
      ...everywhere(
        "not applicable: goes by id; `test/security/two-stacks.test.ts` runs whole lives",
      ),
      create: {
        words: "fails before any POST and names the other stack; its object stays as it is",
        test: async (stage) => {
          const { owner: _, ...values } = declared();
          await create(stage, owned("kiosk", values, "other/dev/fedcba9876543210"));
          const before = await stage.hub.objects("channels");
          stage.nextRun();
          await expect(create(stage)).rejects.toThrow(/belongs to another .*other\/dev kiosk/);
          expect(await stage.hub.objects("channels")).toEqual(before);
        },
      },
    }),
    ...[1, -1].map((hours) =>
      row(
        hours > 0 ? "clock-forward" : "clock-back",
        `The machine's clock jumps an hour ${hours > 0 ? "forward" : "back"} in mid-run`,
        wallMoves(hours),
        everywhere(untouched, { token: { ...untouched, sends: 0 } }),
      ),
    ),
  ],
};
