import { expect, test } from "vitest";
import { packageVersion } from "../../provider/kernel/package-version.js";
import { run } from "./session.js";

test("--version says the version of the package", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: `${packageVersion()}\n`, err: "" });
});

test("--help names every command with what it does", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  expect(out).toMatch(/emulator .*Run the service on this machine/);
  expect(out).toMatch(/doctor .*Check Node/);
});

test("the list of commands fits 80 columns", async () => {
  const { out } = await run("--help");
  for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
});

test("without a command the help is shown, and the command line counts as wrong", async () => {
  const { code, err } = await run();
  expect(code).toBe(2);
  expect(err).toContain("Usage: pulumi-conversation");
});

test.each([
  [["doctr"], "unknown command 'doctr'\n(Did you mean doctor?)"],
  [["doctor", "--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
  [["doctor", "now"], "too many arguments"],
  [["doctor", "--stack"], "argument missing"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, out, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(out).toBe("");
});

test.each([
  ...["init", "emulator", "doctor", "forecast", "orphans", "export", "import", "import-file"],
  "explain",
  ...["rehearse", "check-record", "drill", "probe"],
])("every option of %s is explained", async (command) => {
  const { code, out } = await run(command, "--help");
  expect(code).toBe(0);
  const options = out.split("\n").filter((line) => /^ {2}-/.test(line));
  expect(options.length).toBeGreaterThan(2);
  for (const line of options) expect(line).toMatch(/^ {2}-\S+( [<[][^>]+[>\]]|, --[a-z]+)? {2,}\S/);
});
