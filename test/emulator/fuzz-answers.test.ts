import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { type Answered, carryOut, prepare, randomSteps } from "./random-history.js";
import { Running } from "./running.js";

/** `npm run test:long` makes 60 times as many histories. */
const scale = Number(process.env.FUZZ_SCALE ?? 1);
vi.setConfig({ testTimeout: 180_000 * scale });

const memberOf = (value: unknown, ...steps: readonly string[]): unknown =>
  steps.reduce((here: unknown, step) => (isObject(here) ? here[step] : undefined), value);

/** Checks answers against a document, member by member; gives what is wrong. */
const checkerOf = (document: JsonObject) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", ...document });
  return ({ operation, reply: { status, text } }: Answered): string => {
    const [method = "", path = ""] = operation.split(" ");
    const responses = memberOf(document, "paths", path, method.toLowerCase(), "responses");
    const response = memberOf(responses, String(status));
    if (!response) return `the status ${status} is not described`;
    const ref = memberOf(response, "content", "application/json", "schema", "$ref");
    if (ref === undefined) return text === "" ? "" : "there is a body";
    const check = ajv.getSchema(`document${String(ref)}`);
    if (!check) return `there is no schema ${String(ref)}`;
    return check(JSON.parse(text))
      ? ""
      : `${ajv.errorsText(check.errors)} in ${text.slice(0, 500)}`;
  };
};

/** A checker that reads the document anew where the switches stand in another way. */
const describedBy = (service: Running) => {
  let known = { switches: "", check: (_: Answered): string => "" };
  return async (answered: Answered): Promise<void> => {
    const switches = JSON.stringify(await service.emulator.control.switches());
    if (switches !== known.switches)
      known = { switches, check: checkerOf((await service.send("GET", "/openapi.json")).json) };
    const { operation, reply } = answered;
    expect([operation, reply.status, known.check(answered)]).toEqual([operation, reply.status, ""]);
  };
};

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

test("whatever happened, every answer is as described, and data file and snapshot hold all of it", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(randomSteps(50), async (steps) => {
      const data = join(temporaryFolder(), "hub.db");
      let kept: string;
      {
        await using service = await life({ data });
        await prepare(service);
        const check = describedBy(service);
        await carryOut(service, steps, async (answered) => {
          seen.add(`${answered.operation} ${answered.reply.status}`);
          await check(answered);
        });
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
