import { expect } from "vitest";
import { resources } from "../../../provider/resources/index.js";
import { owned } from "../../support/emulated.js";
import { type Group, type OwnCell, row } from "../support/cell.js";
import { checked, create, type Entry, type Json } from "../support/resource.js";
import type { Stage } from "../support/stage.js";

const names = Array.from({ length: 50 }, (_, number) => `k${number}`);

const kiosk = (name: string, displayName = "Kiosk"): Json =>
  owned(name, { type: `custom.${name}`, displayName, icon: "aVZC" });

const createAll = (stage: Stage): Promise<Entry[]> =>
  Promise.all(names.map((name) => create(stage, kiosk(name))));

/** The run has a token that the service no longer takes. */
const expire = (stage: Stage): void => {
  stage.hub.emulator.advance(2 * 3600_000);
  stage.sent.length = 0;
};

/** Calls of fifty objects at once, after the token ran out; `endpoint` is sent twice for each. */
const storm = (
  endpoint: string,
  act: (stage: Stage, entry: Entry, name: string) => Promise<unknown>,
): OwnCell => ({
  words: "fifty calls at once fetch exactly one new token and are sent again",
  test: async (stage) => {
    const entries = await createAll(stage);
    stage.nextRun();
    await stage.service.token();
    expire(stage);
    await Promise.all(entries.map((entry, place) => act(stage, entry, names[place] ?? "")));
    expect(stage.sentTo("TOKEN")).toBe(1);
    expect(stage.sentTo(endpoint)).toBe(2 * names.length);
  },
});

export const storms: Group = {
  title: "Many calls at once",
  rows: [
    row("token-storm", "A token runs out while fifty calls are under way", () => {}, {
      create: {
        words:
          "fifty calls at once fetch exactly one new token and are sent again; every object is made once",
        test: async (stage) => {
          await create(stage, kiosk("first"));
          expire(stage);
          await createAll(stage);
          expect(stage.sentTo("TOKEN")).toBe(1);
          expect(stage.sentTo("POST /channels")).toBe(2 * names.length);
          expect(await stage.hub.objects("channels")).toHaveLength(names.length + 1);
        },
      },
      list: {
        words: "the lists of all kinds at once fetch exactly one new token",
        test: async (stage) => {
          await stage.service.token();
          expire(stage);
          await Promise.all(resources.map((kind) => stage.service.list(kind)));
          expect(stage.sentTo("TOKEN")).toBe(1);
          expect(stage.sent).toHaveLength(1 + 2 * resources.length);
        },
      },
      get: storm("GET /channels/{id}", (stage, { id }) =>
        stage.of("Channel").read(id, { __provider: "pointer" }),
      ),
      update: {
        ...storm("GET /channels/{id}", async (stage, { id, state }, name) =>
          stage.of("Channel").update(id, state, await checked(stage, kiosk(name, "New"))),
        ),
        words: "the fifty reads before fetch exactly one new token and are sent again",
      },
      delete: storm("DELETE /channels/{id}", (stage, { id, state }) =>
        stage.of("Channel").delete(id, state),
      ),
      token: {
        words: "fifty first calls of a run share one token",
        test: async (stage) => {
          await createAll(stage);
          expect(stage.sentTo("TOKEN")).toBe(1);
          expect(stage.sentTo("GET /channels")).toBe(1);
          expect(await stage.hub.objects("channels")).toHaveLength(names.length);
        },
      },
    }),
  ],
};
