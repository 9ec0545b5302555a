import { expect, test } from "vitest";
import { commands } from "../../cli/program.js";
import { foldedHelp } from "../../provider/kernel/columns.js";
import { packageVersion } from "../../provider/kernel/package.js";
import { run } from "./session.js";

test("--version says the version of the package", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: `${packageVersion()}\n`, err: "" });
});

test("without a command the help is shown, and the command line counts as wrong", async () => {
  const { code, err } = await run();
  expect(code).toBe(2);
  expect(err).toContain("Usage: pulumi-conversation");
});

test.each([
  [["doctr"], "unknown command 'doctr'\n(Did you mean doctor?)"],
  [["help", "doctr"], "unknown command 'doctr'\n(Did you mean doctor?)"],
  [["doctr", "--help"], "unknown command 'doctr'\n(Did you mean doctor?)"],
  [["help", "nothing"], "unknown command 'nothing'"],
  [["doctor", "--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
  [["doctor", "now"], "too many arguments"],
  [["doctor", "--stack"], "argument missing"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, out, err } = await run(...args);
  expect(code).toBe(2);
  expect(err).toContain(message);
  expect(out).toBe("");
});

test("help shows the same as --help", async () => {
  expect(await run("help", "doctor")).toEqual(await run("doctor", "--help"));
  expect(await run("help")).toEqual(await run("--help"));
});

test("the list and the help of every command fit 80 columns, and explain every option", async () => {
  const list = await run("--help");
  for (const line of list.out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  const named = [...list.out.matchAll(/^ {2}([a-z-]+) +[A-Z]/gm)];
  const names = named.map(([, name = ""]) => name);
  expect(names).toEqual([
    ...commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name),
    "help",
  ]);
  for (const name of names.filter((each) => each !== "help")) {
    const { code, out } = await run(name, "--help");
    expect(code).toBe(0);
    const lines = out.split("\n");
    for (const line of lines) expect(line.length, `${name}: ${line}`).toBeLessThanOrEqual(80);
    const options = lines.filter((line) => /^ {2}-/.test(line));
    expect(options.length, name).toBeGreaterThan(1);
    for (const line of options)
      expect(line).toMatch(/^ {2}-\S+( [<[][^>]+[>\]]|, --[a-z]+)?( {2,}\S|$)/);
  }
});

test.each([
  ["a line that fits stays", "  a  b", "  a  b"],
  ["a paragraph goes on in its next line", "one two three four\nfive", "one two\nthree four\nfive"],
  [
    "a list goes on below its text",
    " a  one two three\n b  four",
    " a  one two\n    three\n b  four",
  ],
  ["what cannot be broken stays whole", "0123456789abcdef", "0123456789abcdef"],
  ["a blank line ends a paragraph", "one two three\n\nfour", "one two\nthree\n\nfour"],
])("%s", (_, text, folded) => {
  expect(foldedHelp(text, 11)).toBe(folded);
});
