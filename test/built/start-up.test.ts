import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../cli/pulumi/processes.js";

const root = join(__dirname, "..", "..");

/** Loads the command line as `cli/main.ts` does, and says which modules that took. */
const probe = `
const program = require("./dist/cli/program.js");
const run = { out() {}, err() {}, coloured: false, untilInterrupted: async () => {}, exitCode: 0 };
program.runProgram(process.argv.slice(1), run)
  .then(() => console.log(JSON.stringify(Object.keys(require.cache))));
`;

const loadedBy = async (...args: readonly string[]): Promise<readonly string[]> => {
  const node = ["-e", probe, "--", ...args];
  const { stdout, lastLines, code } = await runCommand(process.execPath, node, { cwd: root });
  expect(code, lastLines.join("\n")).toBe(0);
  const files: readonly string[] = JSON.parse(stdout);
  return files.map((file) => file.slice(root.length + 1).replaceAll("\\", "/"));
};

/** What answers at once: nothing that it says needs the service, the definitions or a library but commander. */
test.each([
  ["the help", ["--help"]],
  ["the version", ["--version"]],
  ["the help of a command", ["emulator", "--help"]],
  ["a misspelt command", ["doctr"]],
  ["a misspelt option", ["forecast", "--max-minuts", "3"]],
])("%s loads the list of commands and little else", async (_, args) => {
  const loaded = await loadedBy(...args);
  const packages = loaded.filter((file) => file.startsWith("node_modules/"));
  for (const file of packages) expect(file).toMatch(/\/commander\//);
  expect(
    loaded.filter((file) => /^dist\/provider\/(resources|lifecycle|pacing)\//.test(file)),
  ).toEqual([]);
  expect(loaded).toContain("dist/cli/program.js");
  expect(loaded.length).toBeLessThan(60);
});
