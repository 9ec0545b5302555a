import { expect } from "vitest";
import { isObject } from "../../../provider/kernel/json.js";
import { channel } from "../../../provider/resources/channel.js";
import { kiosk } from "../../lifecycle/steps.js";
import { handedBack } from "../../support/door.js";
import {
  type Arrange,
  always,
  done,
  everywhere,
  fails,
  faulty,
  type Group,
  type OwnCell,
  row,
} from "../support/cell.js";
import { checked, create } from "../support/resource.js";
import type { Passing } from "../support/wire.js";

const instead =
  (change: (answer: Passing) => Passing, times = 1): Arrange =>
  (stage, on) =>
    stage.wire.add({ on, do: "answer", with: change, times });

const text =
  (body: string): ((answer: Passing) => Passing) =>
  ({ status: code }) => ({ status: code === 204 ? 200 : code, text: body });

/** Every `id` of the answer, and the token, with another value. */
const withIds =
  (value: unknown) =>
  (answer: Passing): Passing => ({
    status: answer.status === 204 ? 200 : answer.status,
    text: JSON.stringify(
      JSON.parse(answer.text || "{}", (key, member) =>
        key === "id" || key === "access_token" ? value : member,
      ),
    ),
  });

/** Members and values that no field knows, in every object of the answer. */
const unfamiliar = ({ status: code, text: whole }: Passing): Passing => {
  const strange = {
    region: "eu",
    rank: 7,
    restrictions: { inbound: { attachmentPolicy: { type: "ask" } } },
  };
  const value = JSON.parse(whole || "{}", (_, member) =>
    isObject(member) && "id" in member ? { ...member, ...strange } : member,
  );
  return { status: code, text: JSON.stringify(value) };
};

/** What is read back differs in nothing from what the program declares. */
const noDrift = (on: string, words: string): OwnCell => ({
  words,
  test: async (stage) => {
    const { id, state } = await create(stage);
    stage.nextRun();
    stage.wire.add({ on, do: "answer", with: unfamiliar });
    // Without the list, the object itself is read.
    if (on === "GET /channels/{id}")
      await stage.hub.faults({ on: "GET /channels", kind: "forbidden-list" });
    const { inputs = {} } = await stage.of("Channel").read(id, state);
    const news = await checked(stage, kiosk());
    expect(await stage.of("Channel").diff(id, handedBack(inputs), news)).toEqual({
      changes: false,
    });
  },
});

const finds =
  "the object was made, but not which is known: a fresh list is searched for the own mark, the object is found and taken over";
const statusCounts = "the status says that it worked; the body does not matter";
const itemInstead = "the list cannot be used; the object itself is asked for";
const noToken = fails(
  1,
  /has no usable access_token/,
  "fails at once, names the token URL; nothing was sent to the service",
);
const askedTwiceMore = "asked for again, at most twice";
const sentTwiceMore =
  "the page may not be the service's: sent again, at most twice, which does no harm";
const readBack = "sent twice more; then the object itself is read, and holds what was written";

export const answers: Group = {
  title: "Unusable and unusual answers",
  rows: [
    row("The answer breaks off", faulty({ kind: "truncate" }), {
      create: done(1, finds),
      list: done(2, "asked for again, as after a lost connection"),
      get: done(2, "asked for again, as after a lost connection"),
      update: done(1, statusCounts),
      delete: done(1, statusCounts),
      token: done(2, "another token does no harm: asks again"),
    }),
    row(
      "The answer breaks off, but its id is readable",
      instead(({ status: code, text: whole }) => ({ status: code, text: whole.slice(0, -1) })),
      { create: done(1, "the id is known, so nothing is asked for") },
    ),
    row("The answer is a page", faulty({ kind: "not-json" }), {
      create: done(1, finds),
      list: done(2, askedTwiceMore),
      get: done(2, askedTwiceMore),
      update: done(2, sentTwiceMore),
      delete: done(2, sentTwiceMore),
      token: noToken,
    }),
    row("Every answer is a page", faulty({ kind: "not-json", times: always }), {
      create: done(1, finds),
      list: done(3, `asked for twice more, then ${itemInstead}`),
      get: fails(3, /the response is not JSON/, "asked for twice more, then fails"),
      update: done(3, readBack),
      delete: done(2, "sent again: the 404 shows that it is gone"),
      token: noToken,
    }),
    row("The id in the answer is a number", instead(withIds(7)), {
      create: done(1, finds),
      list: done(1, itemInstead),
      get: done(1, "the id asked for is the id"),
      update: done(1, statusCounts),
      delete: done(1, statusCounts),
      token: noToken,
    }),
    row("The answer is JSON, but no object", instead(text("[]")), {
      create: done(1, finds),
      list: done(1, itemInstead),
      get: fails(1, /the response is not a JSON object/, "fails: not absence"),
      update: done(1, statusCounts),
      delete: done(1, statusCounts),
      token: noToken,
    }),
    row("The answer has members and values that no field knows", instead(unfamiliar), {
      create: done(1, "taken; only the id counts"),
      list: noDrift("GET /channels", "what no field of the program names is no drift"),
      get: noDrift("GET /channels/{id}", "what no field of the program names is no drift"),
      update: done(1, statusCounts),
      delete: done(1, statusCounts),
      token: done(1, "taken; further members do not matter"),
    }),
    row(
      "204 without a body",
      instead(() => ({ status: 204, text: "" })),
      {
        create: done(1, finds),
        list: done(2, askedTwiceMore),
        get: done(2, askedTwiceMore),
        token: noToken,
      },
    ),
    row(
      "The answer is larger than 40 MiB",
      instead(text(`{"padding":"${"x".repeat(41 * 1024 * 1024)}"}`)),
      {
        create: done(1, finds),
        list: done(1, itemInstead),
        get: fails(1, /exceeds 40 MiB/, "fails at once: a repeat would be as large"),
        update: done(1, statusCounts),
        delete: done(1, statusCounts),
        token: fails(1, /exceeds 40 MiB/, "fails at once; nothing was sent to the service"),
      },
    ),
    row(
      "The caller is sent to another address",
      faulty({
        ...{ kind: "status", status: 307 },
        headers: { location: "http://127.0.0.1:9/elsewhere" },
      }),
      {
        ...everywhere(
          fails(1, /redirect/, "never followed: fails at once; the token goes nowhere else"),
        ),
        list: done(1, `never followed: ${itemInstead}`),
      },
    ),
  ],
};

const foreign = { type: "custom.kiosk", displayName: "Somebody's", icon: "aVZC" };

const refusedWith = (status: number, more: Readonly<Record<string, unknown>> = {}): Arrange =>
  faulty({ kind: "status", status, times: always, ...more });

const fieldErrors = {
  body: {
    code: "400-143",
    developerMessage: "A required attribute is missing.",
    details: [{ key: "displayName", value: "missing" }],
  },
};

/** A run whose token the service no longer takes, though its life is not over by what it was granted. */
const outlived: Arrange = async (stage) => {
  await stage.service.token();
  stage.hub.emulator.advance(2 * 3600_000);
};

const reader = {
  clientId: "reader",
  clientSecret: "reader-secret",
  scopes: ["app.conversation.conversationmgr.read"],
};

const asReader: Arrange = async (stage) => {
  await stage.hub.control("POST", "/clients", reader);
  stage.nextRun({
    CONVERSATION_CLIENT_ID: reader.clientId,
    CONVERSATION_CLIENT_SECRET: reader.clientSecret,
  });
};

/** Somebody has changed the object since the update read it. */
const changedMeanwhile = faulty({
  ...{ kind: "status", status: 409 },
  body: { code: "409-100", developerMessage: "The object has changed since it was read." },
});

const credentials = fails(
  1,
  /refused the client credentials.*Check/,
  "fails at once and names the settings to check",
);
const notAllowed = fails(
  1,
  /is not allowed \(403.*scope/,
  "fails at once and names the scope that is needed",
);
const scopeNamed = fails(
  1,
  /needs the scope app\.conversation\.conversationmgr\.manage; the token has only app/,
  "fails at once, names the scope that is needed and those that the token has",
);
const named = fails(
  1,
  /displayName: missing/,
  "fails at once with what the service says about each property",
);

export const refusals: Group = {
  title: "Refusals",
  rows: [
    row("400 that names a property", refusedWith(400, fieldErrors), {
      ...everywhere(named),
      delete: fails(
        1,
        /the service refuses the deletion \(400\)/,
        "taken for a deletion rule: fails with everything that uses the object",
      ),
      token: credentials,
    }),
    row("401: the token was revoked or expired early", outlived, {
      create: done(
        1,
        "the list before it is refused once and sent again with a new token; the POST is sent once",
      ),
      list: done(2, "fetches one new token and sends again"),
      get: done(2, "fetches one new token and sends again"),
      update: done(
        1,
        "the read before it is refused once and sent again with a new token; the PUT is sent once",
      ),
      delete: done(2, "fetches one new token and sends again"),
    }),
    row(
      "401 even with a new token",
      refusedWith(401),
      everywhere(
        fails(
          2,
          /token was just issued/,
          "fetches one new token, sends once more, then fails and names the two addresses to check",
        ),
        { token: credentials },
      ),
    ),
    row("403", refusedWith(403), {
      ...everywhere(notAllowed),
      list: done(1, "the list is not allowed; the object itself is asked for"),
      token: credentials,
    }),
    row("The client has only the scope to read", asReader, {
      create: scopeNamed,
      update: scopeNamed,
      delete: scopeNamed,
      list: done(1, "reading is allowed"),
      get: done(1, "reading is allowed"),
    }),
    row("404", refusedWith(404), {
      create: fails(1, /found nothing \(404/, "fails at once"),
      list: fails(
        1,
        /found nothing \(404/,
        "fails: a list that is not there proves nothing about an object",
      ),
      get: fails(
        1,
        /there is no channel with this ID/,
        "fails and says so; a refresh takes it for deleted",
      ),
      update: fails(1, /run: pulumi refresh/, "fails at once and says what to run"),
      token: fails(
        1,
        /refused the client credentials \(404\).*CONVERSATION_TOKEN_URL/,
        "fails at once and names the setting to check",
      ),
    }),
    row("409: the object changed between the read and the PUT", changedMeanwhile, {
      update: done(2, "reads what is there now and writes once more"),
    }),
    row("The unique name is taken by an object that is not ours", () => {}, {
      create: {
        words:
          "fails before any POST, names the object and says how to take it over; the object stays as it is",
        test: async (stage) => {
          const { id } = await stage.service.create(channel, { ...foreign });
          const before = await stage.hub.objects("channels");
          stage.nextRun();
          await expect(create(stage)).rejects.toThrow(`adopt: "${id}"`);
          expect(stage.sentTo("POST /channels")).toBe(1);
          expect(await stage.hub.objects("channels")).toEqual(before);
        },
      },
    }),
  ],
};
