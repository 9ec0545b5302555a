import { expect } from "vitest";
import { isObject } from "../../../provider/kernel/json.js";
import {
  type Arrange,
  done,
  everywhere,
  fails,
  faulty,
  type Group,
  type OwnCell,
  row,
} from "../support/cell.js";
import { checked, create, declared, handedBack } from "../support/resource.js";
import type { Stage } from "../support/stage.js";
import type { Passing } from "../support/wire.js";

const always = 1000;

const instead =
  (change: (answer: Passing) => Passing, times = 1): Arrange =>
  (stage, on) =>
    stage.wire.add({ on, do: "answer", with: change, times });

const status =
  (code: number): ((answer: Passing) => Passing) =>
  (answer) => ({ ...answer, status: code, ...(answer.text ? {} : { text: "{}" }) });

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
    if (on === "GET /channels/{id}") await deaf(stage);
    const { inputs = {} } = await stage.of("Channel").read(id, state);
    const news = await checked(stage, declared());
    expect(await stage.of("Channel").diff(id, handedBack(inputs), news)).toEqual({
      changes: false,
    });
  },
});

/** The list is not allowed, so that the object itself is read. */
const deaf = (stage: Stage) => stage.hub.faults({ on: "GET /channels", kind: "forbidden-list" });

const finds =
  "the object was made, but not which is known: a fresh list is searched for the own mark, the object is found and taken over";
const statusTells = "the status says that it worked; the body does not matter";
const itemInstead = "the list cannot be used; the object itself is asked for";
const noToken = fails(
  1,
  /holds no usable access_token/,
  "fails at once, names the token address; nothing was sent to the service",
);
const askedTwiceMore = "asked for again, at most twice";
const sentTwiceMore =
  "the page may not be the service's: sent again, at most twice, which does no harm";
const readBack = "sent twice more; then the object itself is read, and holds what was written";

export const answers: Group = {
  title: "Unusable and unusual answers",
  rows: [
    row("truncated", "The answer breaks off", faulty({ kind: "truncate" }), {
      create: done(1, finds),
      list: done(2, "asked for again, as after a lost connection"),
      get: done(2, "asked for again, as after a lost connection"),
      update: done(1, statusTells),
      delete: done(1, statusTells),
      token: done(2, "another token does no harm: asks again"),
    }),
    row(
      "truncated-with-id",
      "The answer breaks off, but its id is readable",
      instead(({ status: code, text: whole }) => ({ status: code, text: whole.slice(0, -1) })),
      everywhere("not applicable: only the answer of a creation is used for its id", {
        create: done(1, "the id is known, so nothing is asked for"),
      }),
    ),
    row("not-json", "The answer is a page", faulty({ kind: "not-json" }), {
      create: done(1, finds),
      list: done(2, askedTwiceMore),
      get: done(2, askedTwiceMore),
      update: done(2, sentTwiceMore),
      delete: done(2, sentTwiceMore),
      token: noToken,
    }),
    row(
      "not-json-for-long",
      "Every answer is a page",
      faulty({ kind: "not-json", times: always }),
      {
        create: done(1, finds),
        list: done(3, `asked for twice more, then ${itemInstead}`),
        get: fails(3, /its answer is not JSON/, "asked for twice more, then fails"),
        update: done(3, readBack),
        delete: done(2, "sent again: the 404 tells that it is gone"),
        token: noToken,
      },
    ),
    row("no-id", "The answer holds no id", instead(withIds(undefined)), {
      create: done(1, finds),
      list: done(1, itemInstead),
      get: done(1, "the id asked for is the id"),
      update: done(1, statusTells),
      delete: done(1, statusTells),
      token: noToken,
    }),
    ...[null, 7, ["a"], { a: 1 }, "..", ""].map((value) =>
      row(
        `id-${value === null ? "null" : value === ".." ? "path" : value === "" ? "empty" : Array.isArray(value) ? "array" : typeof value}`,
        `The id in the answer is \`${JSON.stringify(value)}\``,
        instead(withIds(value)),
        {
          create: done(1, finds),
          list: done(1, itemInstead),
          get: done(1, "the id asked for is the id"),
          update: done(1, statusTells),
          delete: done(1, statusTells),
          token:
            value === ".." ? "not applicable: a token may be any text without blanks" : noToken,
        },
      ),
    ),
    ...["[]", "null", "7", '"text"'].map((body, place) =>
      row(
        `shape-${["array", "null", "number", "text"][place]}`,
        `The answer is \`${body}\``,
        instead(text(body)),
        {
          create: done(1, finds),
          list: done(1, itemInstead),
          get: fails(1, /its answer is not a JSON object/, "fails: not absence"),
          update: done(1, statusTells),
          delete: done(1, statusTells),
          token: noToken,
        },
      ),
    ),
    row(
      "unfamiliar",
      "The answer has members and values that no field knows",
      instead(unfamiliar),
      {
        create: done(1, "taken; only the id counts"),
        list: noDrift("GET /channels", "what no field of the program names is no drift"),
        get: noDrift("GET /channels/{id}", "what no field of the program names is no drift"),
        update: done(1, statusTells),
        delete: done(1, statusTells),
        token: done(1, "taken; further members do not matter"),
      },
    ),
    row("status-200", "200 with the usual body", instead(status(200)), {
      create: done(1, "taken like 201"),
      list: "not applicable: the usual status",
      get: "not applicable: the usual status",
      update: done(1, statusTells),
      delete: done(1, statusTells),
      token: "not applicable: the usual status",
    }),
    row(
      "status-202",
      "202 with the usual body",
      instead(status(202)),
      everywhere(done(1, "taken like any 2xx")),
    ),
    row(
      "status-204",
      "204 without a body",
      instead(() => ({ status: 204, text: "" })),
      {
        create: done(1, finds),
        list: done(2, askedTwiceMore),
        get: done(2, askedTwiceMore),
        update: "not applicable: the usual answer",
        delete: "not applicable: the usual answer",
        token: noToken,
      },
    ),
    row("huge", "The answer is larger than 8 MiB", faulty({ kind: "huge" }), {
      create: done(1, finds),
      list: done(1, itemInstead),
      get: fails(1, /larger than 8 MiB/, "fails at once: a repeat would be as large"),
      update: done(1, statusTells),
      delete: done(1, statusTells),
      token: fails(1, /larger than 8 MiB/, "fails at once; nothing was sent to the service"),
    }),
    row(
      "redirect",
      "The caller is sent to another address",
      faulty({ kind: "redirect", location: "http://127.0.0.1:9/elsewhere" }),
      {
        ...everywhere(
          fails(1, /redirected/, "never followed: fails at once; the token goes nowhere else"),
        ),
        list: done(1, `never followed: ${itemInstead}`),
      },
    ),
  ],
};
