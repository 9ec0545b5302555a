import { createServer, type Socket } from "node:net";
import { expect } from "vitest";
import { participant } from "../../../provider/resources/participant.js";
import { listenHere, portOf } from "../../support/loopback-server.js";
import {
  type Arrange,
  always,
  done,
  type Endings,
  everywhere,
  fails,
  faulty,
  type Group,
  type Row,
  row,
} from "../support/cell.js";
import { create } from "../support/resource.js";
import type { Stage } from "../support/stage.js";

const retryAfter = (title: string, seconds: number, words: string, waitsMs: number): Row =>
  row(
    title,
    faulty({ kind: "status", status: 429, headers: { "retry-after": String(seconds) } }),
    everywhere({ words, sends: 2, waits: [waitsMs, waitsMs] }),
  );

export const rateLimits: Group = {
  title: "Rate limits",
  rows: [
    row(
      "429 five times in a row",
      faulty({ kind: "status", status: 429, times: 5 }),
      everywhere({
        words: "waits 1, 2, 4, 8 and 16 s between the attempts; refusals use up no repeats",
        sends: 6,
        waits: [31_000, 31_000],
      }),
    ),
    retryAfter("429 with Retry-After", 10, "waits as long as the service asks for", 10_000),
    retryAfter(
      "429 with a Retry-After of a day",
      86_400,
      "believes at most 100 s (16 periods of the lowest rate)",
      100_000,
    ),
  ],
};

const listening = async (stage: Stage, onSocket: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    onSocket(socket);
  });
  await listenHere(server);
  stage.closeWith({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  });
  return portOf(server);
};

/** Origins that no call gets through to, each in its own way. */
const deadEnds = {
  /** A port that nobody listens on. */
  refusing: async () => {
    const server = createServer();
    await listenHere(server);
    const port = portOf(server);
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${port}`;
  },
  /** Takes the connection and says nothing, so that it never becomes a TLS connection; then the time is over. */
  silent: async (stage: Stage) =>
    `https://127.0.0.1:${await listening(stage, () => setImmediate(stage.deadlines.pass))}`,
  /** Speaks no TLS where TLS is expected. */
  plain: async (stage: Stage) => {
    const answer = (socket: Socket): void =>
      void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    return `https://127.0.0.1:${await listening(stage, answer)}`;
  },
} as const satisfies Readonly<Record<string, (stage: Stage) => Promise<string>>>;

const astray =
  (where: keyof typeof deadEnds, times: number): Arrange =>
  async (stage, on) =>
    void stage.detours.set(on, { origin: await deadEnds[where](stage), times });

/** The client keeps two connections, since the next call may come before the first is free again. */
const stale: Arrange = async (stage, on) => {
  await stage.service.token();
  await stage.service.list(participant);
  await stage.hub.control("GET", "/faults");
  stage.wire.add({ on, do: "reset-used" });
};

const notSent = "nothing was sent, so it is sent again, up to four times";

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
const forLong = (message: RegExp, ofCreation = message): Endings => ({
  ...everywhere(fails(5, message, "fails after four repeats; the next run succeeds")),
  create: fails(
    3,
    ofCreation,
    "looks for its mark after each attempt and fails after the third; the next run makes the object once",
  ),
});

export const connections: Group = {
  title: "Connections",
  rows: [
    row(
      "No connection within the time allowed, twice",
      astray("silent", 2),
      everywhere(done(3, notSent)),
    ),
    row(
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
      "The server does not use TLS",
      astray("plain", always),
      everywhere(
        fails(
          1,
          /the server does not use TLS/,
          "fails at once: a repeat cannot help; nothing was sent",
        ),
      ),
    ),
    row(
      "The connection is reset (RST) after the service acted",
      (stage, on) => stage.wire.add({ on, do: "reset-after" }),
      afterActing,
    ),
    row(
      "The connection is closed (FIN) before the service acts",
      faulty({ kind: "drop-before-commit" }),
      beforeActing,
    ),
    row("A kept connection is reset as it is used again", stale, {
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

export const serviceFailures: Group = {
  title: "Failures of the service",
  rows: [
    row(
      "503 before the service acts",
      faulty({ kind: "status", status: 503 }),
      everywhere(done(2, again), { create: done(2, lookFirst) }),
    ),
    row(
      "500 after the service acted",
      faulty({ kind: "status-after-commit", status: 500 }),
      everywhere(done(2, again), {
        create: done(
          1,
          "a fresh list is searched for the own mark, the object is found and taken over",
        ),
        update: done(2, "the whole object is sent again; the second PUT changes nothing"),
        delete: done(2, "sent again; the 404 that follows counts as done"),
      }),
    ),
    row(
      "503 without an end",
      faulty({ kind: "status", status: 503, times: 1000 }),
      forLong(/failed .*503|failed \(503\)/, /failed in the service \(503/),
    ),
  ],
};

/** The time allowed for the call is over as soon as it, or the first byte of its answer, has passed. */
const untilDeadline =
  (kind: "hang" | "drip", times: number): Arrange =>
  async (stage, on, operation) => {
    const at = kind === "hang" ? "call" : "answer";
    stage.wire.add({ on, do: "watch", at, run: stage.deadlines.pass, times });
    await faulty({ kind, times })(stage, on, operation);
  };

const ended = "ended when the time allowed is over, then sent again";
const statusCounts =
  "the status says that it worked; the rest is not waited for beyond the time allowed";

export const slow: Group = {
  title: "Slow answers",
  rows: [
    row(
      "No answer at all",
      untilDeadline("hang", 1),
      everywhere(done(2, ended), {
        create: done(
          2,
          "ended when the time allowed is over; a fresh list shows no effect, so the object is made by another POST",
        ),
      }),
    ),
    row(
      "The answer comes byte by byte",
      untilDeadline("drip", 1),
      everywhere(done(2, ended), {
        create: done(
          1,
          "ended when the time allowed is over; a fresh list is searched for the own mark, the object is found and taken over",
        ),
        update: done(1, statusCounts),
        delete: done(1, statusCounts),
      }),
    ),
  ],
};
