import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { carryOut, prepare, randomSteps } from "./random-history.js";
import { Running } from "./running.js";

/** `npm run test:long` makes 60 times as many histories. */
const scale = Number(process.env.FUZZ_SCALE ?? 1);
vi.setConfig({ testTimeout: 180_000 * scale });

const life = async (options: EmulatorOptions) =>
  new Running(
    // Nothing leaves this machine: nobody listens there.
    await startEmulator({
      clock: "manual",
      callbackRoute: () => "http://127.0.0.1:9/",
      ...options,
    }),
  );

const shownBy = async (service: Running): Promise<string> =>
  (await service.control("GET", "/snapshot")).text;

test("whatever happened, data file and snapshot hold all of it", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(randomSteps(50), async (steps) => {
      const data = join(temporaryFolder(), "hub.db");
      let kept: string;
      {
        await using service = await life({ data });
        await prepare(service);
        await carryOut(service, steps, ({ operation, reply }) =>
          seen.add(`${operation} ${reply.status}`),
        );
        kept = await shownBy(service);
      }
      await using again = await life({ data });
      expect(await shownBy(again)).toBe(kept);
      await using other = await life({});
      expect((await other.control("PUT", "/snapshot", JSON.parse(kept))).text).toBe("");
      expect(await shownBy(other)).toBe(kept);
    }),
    // A few histories show everything that is looked for below only where they are chosen.
    { numRuns: 4 * scale, endOnFailure: true, ...(scale === 1 ? { seed: 20_261_124 } : {}) },
  );
  // A history that is refused everything would prove nothing.
  for (const some of ["POST /conversations/messages 202", "POST /assets 200"])
    expect([...seen]).toContain(some);
  expect(new Set([...seen].map((each) => each.split(" ").at(-1))).size).toBeGreaterThan(5);
});
