import { expect } from "vitest";
import { participant } from "../../../provider/resources/participant.js";
import {
  type Arrange,
  done,
  type Endings,
  everywhere,
  fails,
  faulty,
  type Group,
  type Row,
  row,
} from "../support/cell.js";
import { deadEnds } from "../support/dead-ends.js";
import { create } from "../support/resource.js";
import type { Trouble } from "../support/wire.js";

const always = 1000;

const astray =
  (where: keyof typeof deadEnds, times: number): Arrange =>
  async (stage, on) =>
    void stage.detours.set(on, { origin: await deadEnds[where](stage), times });

const cut =
  (trouble: Trouble["do"] & `reset-${string}`): Arrange =>
  (stage, on) =>
    stage.wire.add({ on, do: trouble });

/** The client keeps two connections, since the next call may come before the first is free again. */
const stale: Arrange = async (stage, on) => {
  await stage.service.token();
  await stage.service.list(participant);
  await stage.hub.control("GET", "/faults");
  stage.wire.add({ on, do: "reset-used" });
};

const notSent = "nothing was sent, so it is sent again, up to four times";

const unreached = (fault: string, title: string, where: keyof typeof deadEnds): Row =>
  row(fault, title, astray(where, 2), everywhere(done(3, notSent)));

const again = "harmless to repeat, so it is sent again, up to four times";
const lookFirst =
  "its effect is not known: a fresh list is searched for the own mark, and only as it is not there the object is made by another POST";
const finds =
  "its effect is not known: a fresh list is searched for the own mark, the object is found and taken over";

const beforeActing: Endings = {
  create: done(2, lookFirst),
  list: done(2, again),
  get: done(2, again),
  update: done(2, "the whole object is sent again, up to four times"),
  delete: done(2, again),
  token: done(2, "another token does no harm: asks again, up to four times"),
};

const afterActing: Endings = {
  ...beforeActing,
  create: done(1, finds),
  update: done(2, "the whole object is sent again; the second PUT changes nothing"),
  delete: done(2, "sent again; the 404 that follows counts as done"),
};

/** Such a failure without an end. */
export const forLong = (message: RegExp): Endings => ({
  ...everywhere(fails(5, message, "fails after four repeats; the next run succeeds")),
  create: fails(
    3,
    message,
    "looks for its mark after each attempt and fails after the third; the next run makes the object once",
  ),
});

export const connections: Group = {
  title: "Connections",
  rows: [
    unreached("name-unknown", "The name of the host does not resolve, twice", "unknownName"),
    unreached("refused", "The connection is refused, twice", "refusing"),
    unreached("no-connection", "No connection within the time allowed, twice", "silent"),
    row(
      "refused-for-long",
      "Every connection is refused",
      astray("refusing", always),
      everywhere(
        fails(
          5,
          /no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/,
          "fails after four repeats, says what to check; the next run succeeds",
        ),
      ),
    ),
    row(
      "tls",
      "The TLS connection cannot be trusted",
      astray("plain", always),
      everywhere(
        fails(
          1,
          /TLS connection to .* could not be trusted/,
          "fails at once: a repeat cannot help; nothing was sent",
        ),
      ),
    ),
    row(
      "reset-before",
      "The connection is reset (RST) before the service acts",
      cut("reset-before"),
      beforeActing,
    ),
    row(
      "reset-after",
      "The connection is reset (RST) after the service acted",
      cut("reset-after"),
      afterActing,
    ),
    row(
      "closed-before",
      "The connection is closed (FIN) before the service acts",
      faulty({ kind: "drop-before-commit" }),
      beforeActing,
    ),
    row(
      "closed-after",
      "The connection is closed (FIN) after the service acted",
      faulty({ kind: "drop-after-commit" }),
      afterActing,
    ),
    row(
      "closed-for-long",
      "Every connection is closed before the service acts",
      faulty({ kind: "drop-before-commit", times: always }),
      forLong(/the connection to .* broke/),
    ),
    row("stale-connection", "A kept connection is reset as it is used again", stale, {
      ...beforeActing,
      token: {
        words: "the second token call of a run, on a kept connection, is sent again",
        test: async (stage) => {
          stage.wire.add({ on: "TOKEN", do: "reset-used" });
          await stage.hub.faults({ on: "GET /channels", kind: "status", status: 401 });
          await create(stage);
          expect(stage.sentTo("TOKEN")).toBe(3);
        },
      },
    }),
  ],
};
