import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { accessService } from "../../cli/inventory/open-account.js";
import { readAccount } from "../../cli/inventory/read-account.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { pacedCalls, waitOutRefusals } from "../../provider/pacing/pacer.js";
import type { Pace, Wait } from "../../provider/service/pace.js";
import type { HttpResponse } from "../../provider/service/transport.js";
import { AssetHub, status } from "../runtime/support/asset-hub.js";
import { JumpingClock } from "../service/support/clocks.js";
import { connected, failureOf } from "../service/support/connected.js";
import { FakeHub, json, raw } from "../service/support/fake-hub.js";
import { create, ok, refusedWith } from "./support/simulation.js";

const longestMs = 100_000;

/** A value of the header, and what it asks for in milliseconds. Left out: nothing that can be kept to. */
interface Asked {
  readonly headers: { readonly "retry-after": string | string[]; readonly date: string };
  readonly ms?: number;
}

const now = Date.UTC(2026, 0, 1);
const httpDate = (ms: number): string => new Date(ms).toUTCString();
const oldDate = (ms: number): string => {
  const [day = "", date, month, year, time] = httpDate(ms).split(" ");
  return `${day.slice(0, 3)} ${month} ${date} ${time} ${year}`;
};

type Value = { readonly text: string; readonly ms?: number };

const seconds = (most: number) =>
  fc.integer({ min: 1, max: most }).map((s): Value => ({ text: `${s}`, ms: s * 1000 }));
const fractions = fc.integer({ min: 1, max: 990 }).map(
  (tenths): Value => ({
    text: `${Math.floor(tenths / 10)}.${tenths % 10}`,
    ms: tenths * 100,
  }),
);
const dates = (form: (ms: number) => string, most: number) =>
  fc
    .integer({ min: 1, max: most })
    .map((s): Value => ({ text: form(now + s * 1000), ms: s * 1000 }));
const iso = (ms: number): string => new Date(ms).toISOString();

const believed = fc.oneof(
  seconds(100),
  fractions,
  dates(httpDate, 100),
  dates(oldDate, 100),
  dates(iso, 100),
);
const tooLong = fc.oneof(
  fc.integer({ min: 101, max: 999_999_999 }).map((s): Value => ({ text: `${s}`, ms: s * 1000 })),
  fc.constantFrom<Value>(
    { text: "Fri, 31 Dec 9999 23:59:59 GMT", ms: Date.UTC(9999, 11, 31) },
    { text: "9".repeat(400), ms: Number.POSITIVE_INFINITY },
    { text: httpDate(now + 86_400_000), ms: 86_400_000 },
  ),
);
const nothing = fc.oneof(
  fc.constantFrom("", "0", "-5", "-2050", "+5", "1e9", "0x10", "soon", "Infinity", "NaN", "5 s"),
  fc.constantFrom("5, 7", "in the year 2050", "2050-01-01", "Thu, 99 Foo 2050 99:99:99 GMT"),
  fc.integer({ min: 0, max: 1e9 }).map((s) => httpDate(now - s * 1000)),
  fc.integer({ min: 1, max: 1e9 }).map((s) => `-${s}`),
  fc.string({ unit: "grapheme-ascii" }).filter((text) => !/^\s*\d/.test(text)),
);

const asked = (values: readonly Value[]): Asked => {
  const [first = "", ...more] = values.map(({ text }) => text);
  const headers = {
    "retry-after": more.length > 0 ? [first, ...more] : first,
    date: httpDate(now),
  };
  const waits = values.flatMap(({ ms }) => ms ?? []);
  return waits.length > 0 ? { headers, ms: Math.max(...waits) } : { headers };
};

const values = fc.oneof(
  believed,
  tooLong,
  nothing.map((text): Value => ({ text })),
);
const anyHeader = fc
  .oneof(
    values.map((value) => [value]),
    fc.array(values, { minLength: 2, maxLength: 3 }),
  )
  .map(asked);

/** What a server can send: no repeated header, no odd characters. */
const plainHeader = fc
  .oneof(
    believed,
    tooLong,
    fc.constantFrom("-5", "0", "soon", "5 s").map((text): Value => ({ text })),
  )
  .map((value) => asked([value]));

/** The value as a message names it: a long number only begins with it. */
const nameOf = ({ headers }: Asked): string =>
  [headers["retry-after"]].flat().every((text) => text.length < 100) ? "Retry-After: " : "9…";

/** Refuses for ever. */
const refusing = ({ headers }: Asked, at: () => number) => {
  const sentAt: number[] = [];
  const attempt = async (): Promise<HttpResponse> => {
    sentAt.push(at());
    return refusedWith(headers);
  };
  return { sentAt, attempt };
};

const tooLongFailure = (header: Asked) => ({
  code: "THROTTLED",
  effect: "none",
  message: expect.stringContaining(nameOf(header)),
});
const hourOfRefusals = {
  code: "THROTTLED",
  message: expect.stringMatching(/the time allowed for the call ran out after \d+ refusals?/),
};

const isTooLong = ({ ms = 0 }: Asked): boolean => ms > longestMs;

const paces: Readonly<Record<string, (clock: VirtualTime, onWait: (wait: Wait) => void) => Pace>> =
  {
    "of the token address": (clock, onWait) => waitOutRefusals({ clock, onWait }),
    "of a plan": (clock, onWait) =>
      pacedCalls({ clock, tenant: "t", plan: "enterprise", share: 1, onWait }),
  };

describe.each(Object.entries(paces))("in the pace %s", (_, paceOf) => {
  test("a wait that nobody believes ends with its value, any other with the time allowed", () =>
    fc.assert(
      fc.asyncProperty(anyHeader, async (header) => {
        const time = new VirtualTime();
        const waits: Wait[] = [];
        const { attempt } = refusing(header, () => time.now());
        const pace = paceOf(time, (wait) => waits.push(wait));
        const [first, behind] = await time.during(
          Promise.all([failureOf(pace(create, attempt)), failureOf(pace(create, attempt))]),
        );
        const [quick, slow] = [2.2 * longestMs, 60 * 60_000];
        if (isTooLong(header)) {
          expect([first, behind]).toMatchObject([tooLongFailure(header), tooLongFailure(header)]);
          expect(time.now()).toBeLessThanOrEqual(quick);
          expect(waits.some(({ refused }) => refused?.asks !== undefined)).toBe(true);
        } else {
          expect(first).toMatchObject({ ...hourOfRefusals, effect: "none" });
          expect(String(first)).toContain("POST /channels still exceeds its rate limit");
          expect(time.now()).toBeGreaterThanOrEqual(slow);
          expect(waits.every(({ refused }) => refused?.asks === undefined)).toBe(true);
        }
      }),
      { numRuns: 25 },
    ));

  test("a service that means it once is not left for that", () =>
    fc.assert(
      fc.asyncProperty(anyHeader, async (header) => {
        const time = new VirtualTime();
        const answers = [refusedWith(header.headers), ok];
        const pace = paceOf(time, () => undefined);
        const call = pace(create, async () => answers.shift() ?? ok);
        expect(await time.during(call)).toBe(ok);
        expect(time.now()).toBeLessThanOrEqual(longestMs);
      }),
      { numRuns: 25 },
    ));
});

test("the token address is waited for as long as it asks, else a second", () =>
  fc.assert(
    fc.asyncProperty(anyHeader, async (header) => {
      const clock = new JumpingClock();
      const answers = [refusedWith(header.headers), ok];
      await waitOutRefusals({ clock })(create, async () => answers.shift() ?? ok);
      const { ms = 1000 } = header;
      expect(clock.time).toBe(Math.ceil(Math.min(ms, longestMs)));
    }),
  ));

test("a token address that asks for longer than is believed fails with its value", async () => {
  await using live = await connected(json(200, {}));
  live.hub.handleToken = raw(429, "", { "retry-after": "999999999" });
  expect(await failureOf(live.service.token())).toMatchObject({
    code: "THROTTLED",
    message: expect.stringContaining("POST token URL still exceeds its rate limit"),
  });
  expect(live.hub.tokenCalls).toHaveLength(2);
  expect(live.clock.time).toBe(longestMs);
});

test("an upload is repeated after what its address asks for, at most a minute, else it fails and says so", () =>
  fc.assert(
    fc.asyncProperty(plainHeader, async (header) => {
      await using hub = await AssetHub.start();
      const { "retry-after": value } = header.headers;
      const headers = { "retry-after": String(value), date: header.headers.date };
      hub.content = [status(503, headers), status(200)];
      const upload = hub.client.assets.upload(new Uint8Array(3), {
        channel: "custom.kiosk",
        sender: "customer",
        name: "a.png",
      });
      const { ms = 500 } = header;
      if (ms <= 60_000) {
        expect(await upload).toMatchObject({ id: "a-1" });
        expect(hub.clock.slept).toEqual([ms]);
      } else {
        expect(await failureOf(upload)).toMatchObject({
          code: "UNAVAILABLE",
          message: expect.stringContaining(nameOf(header)),
        });
      }
    }),
    { numRuns: 20 },
  ));

describe("a command that only waits", () => {
  const reported = async (headers: Record<string, string>) => {
    await using hub = await FakeHub.start(raw(429, "", headers));
    const said: string[] = [];
    const clock = new JumpingClock();
    const access = accessService(hub.settings({ plan: "enterprise" }), {
      environment: {},
      say: (text, about) => {
        if (about === "failure") said.push(text);
      },
      clock,
    });
    const error = await failureOf(readAccount(access, { clock }));
    await access.close();
    return { said, error, time: clock.time };
  };

  test.each(["999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "says once that the service asks for %s, and ends with it",
    async (value) => {
      const { said, error } = await reported({ "retry-after": value });
      expect(said).toEqual([
        expect.stringMatching(
          /^The service refuses GET \/\w+ because of the rate limit \(429\), and requests a longer wait than the client accepts \(Retry-After: .*\)\. Retrying for up to 1 min /,
        ),
      ]);
      expect(said[0]).toContain(value);
      expect(isConversationError(error, "THROTTLED")).toBe(true);
      expect(String(error)).toContain(value);
    },
  );

  test.each(["-5", "soon"])("says once that it is refused where it asks for %s", async (value) => {
    const { said, error } = await reported({ "retry-after": value });
    expect(said).toEqual([
      expect.stringMatching(
        /^The service refuses GET \/\w+ because of the rate limit \(429\)\. Retrying for up to 59 min /,
      ),
    ]);
    expect(error).toMatchObject(hourOfRefusals);
  });
});
