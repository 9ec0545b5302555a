import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { parseSwitch, switchTable } from "../../emulator/service/switches.js";
import { type Running, running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

/** The contract's table: the values of each switch, its default first. */
const table: Readonly<Record<string, readonly unknown[]>> = {
  secrets: ["mask", "echo", "omit"],
  put: ["replace", "keep"],
  unknownReference: ["refuse", "accept"],
  deliveryRetries: [2, 0, 10],
  platformName: ["platform", "acme"],
};

const put = (switches: object) => service.control("PUT", "/switches", switches);

test("GET /switches gives the position of every switch, the defaults at first", async () => {
  const own = await running();
  const defaults = Object.entries(table).map(([name, [value]]) => [name, value]);
  expect((await own.control("GET", "/switches")).json).toEqual(Object.fromEntries(defaults));
});

test.each(Object.keys(table))(
  "%s takes each of its values, in its type and as text, and says so",
  async (name) => {
    for (const value of table[name] ?? [])
      for (const given of [value, String(value)]) {
        const { status, json } = await put({ [name]: given });
        expect({ status, value: json[name] }).toEqual({ status: 200, value });
        expect((await service.control("GET", "/switches")).json[name]).toBe(value);
      }
  },
);

test.each(Object.keys(table))("%s takes nothing else", async (name) => {
  const { text } = await service.control("GET", "/switches");
  const zero = table[name]?.includes(0) ? [] : ["0"];
  for (const value of ["", "nonsense!", null, [], {}, -1, 1.5, 11, ...zero]) {
    const reply = await put({ [name]: value });
    expect(reply.status).toBe(400);
    expect(reply.json.error).toMatch(new RegExp(`^The switch ${name} must be `));
  }
  expect((await service.control("GET", "/switches")).text).toBe(text);
});

test("every switch is documented", () => {
  expect(Object.keys(switchTable)).toEqual(Object.keys(table));
  for (const { doc } of Object.values(switchTable)) expect(doc).toMatch(/^[A-Z].{20,}\.$/);
});

test("a switch may be given as text, as on the command line", () => {
  expect(parseSwitch("deliveryRetries", "7")).toEqual({ deliveryRetries: 7 });
  expect(() => parseSwitch("constructor", "x")).toThrow("There is no switch constructor");
});

/** Options as a program without types may give them. */
const from = (json: string) => startEmulator(JSON.parse(json));

test.each([
  ['{"plan":"gold"}', "developer, basic, enterprise, none"],
  ['{"burst":0}', "at least 1"],
  ['{"burst":1.5}', "whole number"],
  ['{"burst":"3"}', "whole number"],
  ['{"clock":"sundial"}', "real, manual"],
  ['{"callbackDeadlineMs":0}', "greater than 0"],
  ['{"controlSecret":"short"}', "8 to 200"],
  ['{"controlSecret":"with a space"}', "8 to 200"],
  ['{"switches":{"put":"sometimes"}}', "replace, keep"],
  ['{"switches":{"puts":"keep"}}', "deliveryRetries"],
])("it does not start with %s and says what is allowed", async (json, allowed) => {
  await expect(from(json)).rejects.toThrow(allowed);
});
