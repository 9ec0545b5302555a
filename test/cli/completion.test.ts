import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flagOption } from "../../cli/command.js";
import { completionScript, shells } from "../../cli/completion.js";
import { commands } from "../../cli/program.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { run } from "./session.js";

const has = (shell: string): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

/** What bash offers for a command line that ends where the cursor is. */
const offered = async (line: string): Promise<readonly string[]> => {
  const { out } = await run("completion", "bash");
  const file = join(temporaryFolder(), "completion.bash");
  writeFileSync(file, out);
  const words = line.split(" ");
  const script = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _pulumi_conversation; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", script], { encoding: "utf8" }).trim().split("\n");
};

test.runIf(has("bash"))(
  "bash completes commands, options and the words that they take",
  async () => {
    expect(await offered("pulumi-conversation ex")).toEqual(
      expect.arrayContaining(["explain", "export"]),
    );
    expect(await offered("pulumi-conversation doctor --pr")).toEqual(["--profile"]);
    expect(await offered("pulumi-conversation explain --format me")).toEqual(["mermaid"]);
    expect(await offered("pulumi-conversation emulator --clock ")).toEqual(["real", "manual"]);
    expect(await offered("pulumi-conversation completion --js")).toEqual(["--json"]);
    expect(await offered("pulumi-conversation emulator --clock =")).toEqual(["real", "manual"]);
    expect(await offered("pulumi-conversation emulator --clock = ma")).toEqual(["manual"]);
    expect(await offered("pulumi-conversation help do")).toEqual(["doctor"]);
  },
);

test.runIf(has("bash"))("bash offers a file whose name holds a space as one", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "my account.json"), "{}");
  const found = await offered(`pulumi-conversation emulator --data ${folder}/my`);
  expect(found).toEqual([join(folder, "my account.json")]);
});

test.runIf(has("fish"))(
  "fish completes commands, options and the words that they take",
  async () => {
    const { out } = await run("completion", "fish");
    const file = join(temporaryFolder(), "completion.fish");
    writeFileSync(file, out);
    const offers = (line: string) =>
      execFileSync("fish", ["-c", `source ${file}; complete -C '${line}'`], { encoding: "utf8" })
        .trim()
        .split("\n")
        .map((each) => each.split("\t")[0]);
    expect(offers("pulumi-conversation ex")).toEqual(["explain", "export"]);
    expect(offers("pulumi-conversation emulator --clock ")).toEqual(["manual", "real"]);
    expect(offers("pulumi-conversation help do")).toEqual(["doctor"]);
  },
);

test.each(shells)("the script for %s names every command and option", async (shell) => {
  const { code, out } = await run("completion", shell);
  expect(code).toBe(0);
  for (const { name } of commands) expect(out).toContain(name);
  for (const option of ["snapshot", "no-burst", "as-scopes"])
    expect(out).toContain(shell === "fish" ? `-l ${option}` : `--${option}`);
});

test.each(shells.filter((shell) => shell !== "bash" && has(shell)))(
  "%s can read its script",
  async (shell) => {
    const { out } = await run("completion", shell);
    const file = join(temporaryFolder(), `completion.${shell}`);
    writeFileSync(file, out);
    execFileSync(shell, ["-n", file]);
  },
);

test("signs with a meaning for a shell are only text", () => {
  const hostile = "it's $(touch x) `y` \\ [z]:end";
  const [any] = commands;
  const hostileCommands = any
    ? [{ ...any, summary: hostile, options: { b: flagOption(hostile) } }]
    : [];
  expect(completionScript("zsh", hostileCommands)).toContain(
    "it'\\''s $(touch x) `y` \\\\ \\[z\\]\\:end",
  );
  expect(completionScript("fish", hostileCommands)).toContain(
    "'it\\'s $(touch x) `y` \\\\ [z]:end'",
  );
});

test("an unknown shell is refused with the ones there are", async () => {
  const { code, err } = await run("completion", "tcsh");
  expect(code).toBe(2);
  expect(err).toContain("Allowed choices are bash, zsh, fish");
});
