import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../cli/pulumi/processes.js";

const root = join(__dirname, "..", "..");

test("the tests of the default account pass with the test runner of Node", async () => {
  const file = "examples/default-account/default-account.test.mts";
  const { code, lastLines } = await runCommand(process.execPath, ["--test", file], { cwd: root });
  expect([code, ...lastLines]).toEqual(expect.arrayContaining([0, "ℹ pass 3", "ℹ fail 0"]));
});
