import { expect, test } from "vitest";
import { startEmulator } from "../../emulator/index.js";
import { parseSwitches } from "../../emulator/service/switches.js";

/** Options as a program without types may give them. */
const from = (json: string) => startEmulator(JSON.parse(json));

test.each([
  ['{"plan":"gold"}', "developer, basic, enterprise, none"],
  ['{"burst":0}', "at least 1"],
  ['{"burst":1.5}', "whole number"],
  ['{"burst":"3"}', "whole number"],
  ['{"clock":"sundial"}', "real, manual"],
  ['{"callbackDeadlineMs":0}', "above 0"],
  ['{"controlSecret":"short"}', "8 to 200"],
  ['{"controlSecret":"with a space"}', "8 to 200"],
  ['{"switches":{"put":"sometimes"}}', "replace, keep"],
  ['{"switches":{"puts":"keep"}}', "duplicateStatus"],
])("it does not start with %s and says what is allowed", async (json, allowed) => {
  await expect(from(json)).rejects.toThrow(allowed);
});

test("a switch may be given as text, as on the command line", () => {
  expect(parseSwitches({ pageSize: "7", refusedCosts: "true" })).toEqual({
    pageSize: 7,
    refusedCosts: true,
  });
});
