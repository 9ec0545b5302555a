import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isConversationError } from "../../sdk/runtime/index.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { hostile } from "./support/hostile-values.js";
import { memberOf, type PublicSurface, publicSurface } from "./support/public-surface.js";
import { rightCalls } from "./support/right-calls.js";

const runs = Number(process.env.FUZZ_RUNS ?? 400);

let surface: PublicSurface;

beforeAll(async () => {
  surface = await publicSurface();
});

afterAll(() => surface[Symbol.asyncDispose]());

/** What says that the caller has to mend something. `BAD_RESPONSE`: a redirect that holds no code. */
const callersOwn = [
  "INPUT_INVALID",
  "ID_INVALID",
  "SETTINGS_INVALID",
  "SETTINGS_MISSING",
  "BAD_RESPONSE",
  "TIMED_OUT",
];

test.each(Object.keys(rightCalls))(
  "%s fails well, whatever it is given, and before any call",
  async (name) => {
    const right = surface.rightCall(name);
    // A function in place of fetch cannot be told from one that finds no way.
    const places = placesIn(right).filter((place) => place.length > 0 && place[1] !== "fetch");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), hostile, async (place, make) => {
        const value = make();
        // Any text may be the path of a file, and the answer is the file system's.
        fc.pre(!(name === "assets.download" && place[0] === 1 && typeof value === "string"));
        const given = changedAt(right, place, value);
        const before = surface.sentCalls();
        const failure = await surface.failureOf(name, Array.isArray(given) ? given : []);
        if (failure === undefined) return;
        expect(isConversationError(failure)).toBe(true);
        expect(callersOwn).toContain(memberOf(failure, "code"));
        // What a function fails with, and what takes too long, is known only once it is tried.
        const isTried = typeof value === "function" || memberOf(failure, "code") === "TIMED_OUT";
        if (!isTried) expect(surface.sentCalls()).toBe(before);
      }),
      { numRuns: runs },
    );
  },
);

test.each(Object.keys(rightCalls))("%s fails well without anything", async (name) => {
  for (const given of [[], [undefined, null], [null], [null, null, null]]) {
    const failure = await surface.failureOf(name, given);
    if (failure !== undefined) expect(isConversationError(failure)).toBe(true);
  }
});
