import { expect } from "vitest";
import { channel } from "../../../provider/resources/channel.js";
import { type Arrange, done, everywhere, fails, faulty, type Group, row } from "../support/cell.js";
import { create } from "../support/resource.js";

const always = 1000;
const foreign = { type: "custom.kiosk", displayName: "Somebody's", icon: "aVZC" };
const unconditional = "not applicable: only a PUT can meet a change that it does not know";

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

/** Somebody changes the object after the update has read it, so the PUT comes with an old `modified`. */
const changedMeanwhile: Arrange = async (stage) => {
  await stage.hub.control("PUT", "/switches", { staleModified: "refuse" });
  stage.hub.emulator.advance(1000);
  stage.wire.add({
    on: "GET /channels/{id}",
    do: "answer",
    with: ({ status, text }) => ({
      status,
      text: JSON.stringify({ ...JSON.parse(text), modified: "2026-01-01T00:00:00.000Z" }),
    }),
  });
};

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
const named = fails(
  1,
  /displayName: missing/,
  "fails at once with what the service says about each property",
);

export const refusals: Group = {
  title: "Refusals",
  rows: [
    row("field-errors", "400 that names a property", refusedWith(400, fieldErrors), {
      ...everywhere(named),
      delete: fails(
        1,
        /the service refuses \(400\)/,
        "taken for a deletion rule: fails with everything that uses the object",
      ),
      token: credentials,
    }),
    row("token-outlived", "401: the token was revoked or expired early", outlived, {
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
      token: "not applicable: a token call carries no token",
    }),
    row(
      "unauthorized-once",
      "401 once",
      faulty({ kind: "status", status: 401 }),
      everywhere(done(2, "surely refused: fetches one new token and sends again"), {
        token: credentials,
      }),
    ),
    row(
      "unauthorized",
      "401 even with a new token",
      refusedWith(401),
      everywhere(
        fails(
          2,
          /fetched a moment ago/,
          "fetches one new token, sends once more, then fails and names the two addresses to check",
        ),
        { token: credentials },
      ),
    ),
    row("forbidden", "403", refusedWith(403), {
      ...everywhere(notAllowed),
      list: done(1, "the list is not allowed; the object itself is asked for"),
      token: credentials,
    }),
    row("read-scope", "The client has only the scope to read", asReader, {
      ...everywhere(
        fails(
          1,
          /needs the scope app\.conversation\.conversationmgr\.manage; the token has only app/,
          "fails at once, names the scope that is needed and those that the token has",
        ),
      ),
      list: done(1, "reading is allowed"),
      get: done(1, "reading is allowed"),
      token: "not applicable: the token is granted as asked, the operations are refused",
    }),
    row("not-found", "404", refusedWith(404), {
      create: fails(1, /found nothing \(404/, "fails at once"),
      list: fails(
        1,
        /found nothing \(404/,
        "fails: a list that is not there proves nothing about an object",
      ),
      get: fails(
        1,
        /there is no channel with this id/,
        "fails and says so; a refresh takes it for deleted (see `deleted-behind`)",
      ),
      update: fails(1, /run: pulumi refresh/, "fails at once and says what to run"),
      delete: "not applicable: see `deleted-behind`, where it is the truth",
      token: fails(
        1,
        /did not take the call \(404\).*CONVERSATION_TOKEN_URL/,
        "fails at once and names the setting to check",
      ),
    }),
    row("conflict", "409", refusedWith(409), {
      ...everywhere(fails(1, /was refused \(409/, "fails at once with what the service says")),
      update: fails(
        2,
        /was refused \(409/,
        "reads and writes once more, then fails with what the service says",
      ),
      delete: fails(
        1,
        /the service refuses \(409\)/,
        "taken for a deletion rule: fails with everything that uses the object",
      ),
      token: fails(
        1,
        /did not take the call \(409\)/,
        "fails at once and names the setting to check",
      ),
    }),
    row(
      "changed-meanwhile",
      "409: the object changed between the read and the PUT",
      changedMeanwhile,
      {
        ...everywhere(unconditional),
        update: done(2, "reads what is there now and writes once more"),
      },
    ),
    row("name-taken", "The unique name is taken by an object that is not ours", () => {}, {
      ...everywhere("not applicable: names are looked at where objects are made"),
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
