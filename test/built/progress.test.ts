import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const { Channel } = require("pulumi-conversation");
for (const name of ["a", "b", "c", "d"]) new Channel(name, { type: "custom." + name, displayName: name, icon: "aVZC" });
`;

const limits = { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "1" };

let project: EmulatedProject;

afterEach(() => project?.close());

test("a log has one line that says how far the run is, and none for each resource", async () => {
  project = await emulatedProject(program, { plan: "basic", burst: 1 }, limits);
  const begun = performance.now();
  const output = await project.succeed(["up", "--yes"]);
  const told = output.split("\n").filter((line) => line.includes(" left"));
  // The next one comes after half a minute, which the run takes only on a busy machine.
  const most = 1 + Math.floor((performance.now() - begun) / 30_000);
  expect(told.length).toBeLessThanOrEqual(most);
  // Four channels and the list that is looked at first, foreseen by the preview.
  expect(told[0] ?? "none").toMatch(
    /pulumi:pulumi:Stack .*\b[1-4]\/5 calls, \d+ s left, POST \/channels decides/,
  );
});

/** Runs a command in a terminal of its own, of so many columns; everything that it was sent. */
const inTerminal = (columns: number, command: string, env: NodeJS.ProcessEnv, cwd: string) =>
  new Promise<string>((resolve) => {
    const line = `stty cols ${columns} rows 40; ${command}`;
    const shell = { cwd, env: { ...env, TERM: "xterm-256color", CI: "" }, maxBuffer: 1 << 26 };
    execFile("script", ["-qfec", line, "/dev/null"], shell, (_, stdout) => resolve(stdout));
  });

const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

test.runIf(hasScript)(
  "a terminal shows the numbers in the rows, takes them away, and has them in its title",
  async () => {
    project = await emulatedProject(program, { plan: "basic", burst: 1 }, limits);
    const pulumi = join(process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "", "pulumi");
    const sent = await project.inShell((env, folder) =>
      inTerminal(120, `"${pulumi}" up --yes --skip-preview`, env, folder),
    );
    // With or without colours, which depend on the terminal.
    const drawn = stripVTControlCharacters(sent);
    expect(drawn).toMatch(/Stack +\S+ +creating \(\d+s\)\S* +\d\/\d calls, \d+ s left/);
    expect(drawn).toMatch(/Channel +[a-d] +creating \(\d+s\)\S* +\d+ s left for POST/);
    for (const name of ["a", "b", "c", "d"]) {
      // The engine draws on its own, and once more at the end.
      const last = drawn.match(new RegExp(`Channel +${name} +created[^\\n]*`, "g"))?.at(-1);
      expect(last).toBeDefined();
      expect(last).not.toContain(" left for");
    }
    const titles = sent.split("\x1b]2;").slice(1);
    expect(titles[0]).toMatch(/^\d\/\d calls, \d+ s left, POST \/channels decides/);
    expect(sent).toContain("\x1b[23;2t");
  },
);
