import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { test } from "vitest";
import { type Door, doors } from "../support/door.js";
import { emulatedProject } from "../support/emulated-project.js";

const program = `
const { Channel } = require("pulumi-conversation");
for (const name of ["a", "b", "c", "d"]) new Channel(name, { type: "custom." + name, displayName: name, icon: "aVZC" });
`;

const limits = { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "1" };

/** What a command sends to a terminal of its own, without colours and movements. */
const inTerminal = (
  columns: number,
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<string> => {
  const line = `stty cols ${columns} rows 40; ${command}`;
  const shell = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd,
    env: { ...env, TERM: "xterm-256color", CI: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let sent = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    sent += text;
  });
  return new Promise((resolve) => {
    shell.on("close", () => resolve(stripVTControlCharacters(sent)));
  });
};

const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

/** The type of a dynamic resource is so long that 80 columns have no room for anything after it. */
const columns = { plugin: 80, dynamic: 120 } as const satisfies Record<Door, number>;

/** As much of the sentence as fits into the row beside a short name. */
const sentence = {
  plugin: /Channel +[a-d] +creating \(\d+s\)\S* +\d+ s left for/,
  dynamic: /Channel +[a-d] +creating \(\d+s\)\S* +\d+ s left for POST \/channels/,
} as const satisfies Record<Door, RegExp>;

test.runIf(hasScript).concurrent.for(doors)(
  "a terminal shows in a resource's row what it waits for, and takes that away (%s)",
  async (door, { expect, onTestFinished }) => {
    const project = await emulatedProject(program, { plan: "basic", burst: 1 }, limits, door);
    onTestFinished(() => project.close());
    const pulumi = join(process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "", "pulumi");
    const drawn = await project.inShell((env, folder) =>
      inTerminal(columns[door], `"${pulumi}" up --yes --skip-preview`, env, folder),
    );
    expect(drawn).toMatch(sentence[door]);
    for (const name of ["a", "b", "c", "d"]) {
      // The engine draws on its own, and once more at the end.
      const last = drawn.match(new RegExp(`Channel +${name} +created[^\\r\\n]*`, "g"))?.at(-1);
      expect(last).toBeDefined();
      expect(last).not.toContain(" left");
    }
  },
);

test.concurrent.for(doors)(
  "a log says which resource waits for which endpoint (%s)",
  async (door, { expect, onTestFinished }) => {
    const project = await emulatedProject(program, { plan: "basic", burst: 1 }, limits, door);
    onTestFinished(() => project.close());
    const output = await project.succeed(["up", "--yes", "--skip-preview"]);
    const lines = output.split("\n").filter((line) => line.includes(" left for POST /channels"));
    const named = lines.flatMap((line) => /:Channel ([a-d]) /.exec(line)?.[1] ?? []);
    expect(lines.length).toBeGreaterThan(0);
    expect(named, lines.join("\n")).toHaveLength(lines.length);
  },
);
