import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isConversationError } from "../../provider/kernel/errors.js";
import { calls } from "./support/calls.js";
import { connected } from "./support/connected.js";
import type { Handler } from "./support/fake-hub.js";

/** What a service sends after it has read a call, and how the connection ends then. */
interface Sent {
  readonly interim: readonly number[];
  readonly final: (typeof finals)[number];
  readonly end: "close" | "reset";
}

const body = '{"id":"c1"}';
const whole = `HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** As far as the answer itself comes. */
const finals = ["nothing", "half its head", "half its body", "whole"] as const;

const finalBytes = {
  nothing: "",
  "half its head": whole.slice(0, 20),
  "half its body": whole.slice(0, -6),
  whole,
} as const satisfies Readonly<Record<Sent["final"], string>>;

const interimBytes = (status: number): string => {
  const upgrade = status === 101 ? "connection: upgrade\r\nupgrade: x\r\n" : "";
  return `HTTP/1.1 ${status} Interim\r\n${upgrade}link: </a>; rel=preload\r\n\r\n`;
};

const bytesOf = ({ interim, final }: Sent): string =>
  interim.map(interimBytes).join("") + finalBytes[final];

const sending =
  (sent: Sent) =>
  ({ socket }: Pick<ServerResponse, "socket">): void => {
    const end = () => (sent.end === "close" ? socket?.destroy() : socket?.resetAndDestroy());
    socket?.write(bytesOf(sent), end);
  };

const handling =
  (sent: Sent): Handler =>
  (_seen, response) =>
    sending(sent)(response);

const interimStatus = fc.constantFrom(100, 101, 102, 103, 104, 199);

const anySent: fc.Arbitrary<Sent> = fc.record({
  interim: fc.array(interimStatus, { minLength: 1, maxLength: 4 }),
  final: fc.constantFrom(...finals),
  end: fc.constantFrom("close", "reset"),
});

const repeatable = { seed: 22, numRuns: 60 } as const;

test("a status below 200 is never taken for the answer to a call", async () => {
  await using live = await connected(handling({ interim: [], final: "whole", end: "close" }));
  const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE");
  await fc.assert(
    fc.asyncProperty(method, anySent, async (name, sent) => {
      live.hub.handle = handling(sent);
      live.hub.calls.length = 0;
      const outcome = await live.service.request(...calls[name]).catch((error: unknown) => error);
      if (name === "POST") expect(live.hub.calls).toHaveLength(1);
      if (!isConversationError(outcome)) {
        expect(outcome).toMatchObject({ status: 201 });
        expect(sent.final).toMatch(/whole|body/);
        return;
      }
      expect(outcome.code).toBe("UNREACHABLE");
      expect(outcome.details.status ?? 201).toBe(201);
      expect(outcome.message).not.toContain("redirected");
      if (name === "GET") expect(outcome.effect).toBe("none");
      else expect(["unknown", "done"]).toContain(outcome.effect);
    }),
    repeatable,
  );
});

test("an answer that follows any number of 102, 103 and 104 is the answer", async () => {
  await using live = await connected((_seen, { socket }) => {
    socket?.write(Array.from({ length: 500 }, (_, n) => interimBytes(102 + (n % 3))).join(""));
    socket?.write(whole);
  });
  expect(await live.service.request(...calls.POST)).toEqual({ status: 201, body: { id: "c1" } });
});
