import { readFileSync } from "node:fs";
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

const { exports: exported } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Loads an entry point as an old Node.js does, which lacks this function among others. */
const loadOnOldNode = (entry: string): string => `
  Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });
  delete Map.groupBy;
  try { require(${JSON.stringify(entry)}); } catch (error) { console.log(error.message); }
`;

test.each(Object.keys(exported).filter((entry) => !entry.endsWith(".json")))(
  "on an old Node.js, %s loads, or says which version it needs",
  async (entry) => {
    const node = ["-e", loadOnOldNode(join("pulumi-conversation", entry))];
    const { stdout, code } = await runCommand(process.execPath, node, { cwd: root });
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(/^(pulumi-conversation needs Node.js 22.19 or later; .*)?$/);
  },
);

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
