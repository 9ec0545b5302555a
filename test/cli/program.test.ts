import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { optionName } from "../../cli/command.js";
import { commands } from "../../cli/program.js";
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
  [["orphans", "--delete", "--stack", ""], "'--stack <name>' argument '' is invalid. It is empty."],
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
  expect(names).toEqual([...commands.map(({ name }) => name), "help"]);
  for (const name of names.filter((each) => each !== "help")) {
    const { code, out } = await run(name, "--help");
    expect(code).toBe(0);
    const spec = commands.find((each) => each.name === name);
    for (const [exit, meaning] of Object.entries(spec?.exits ?? {}))
      expect(out.replace(/\s+/g, " ")).toContain(`${exit} ${meaning}`);
    const lines = out.split("\n");
    for (const line of lines) expect(line.length, `${name}: ${line}`).toBeLessThanOrEqual(80);
    const options = lines.filter((line) => /^ {2}-/.test(line));
    expect(options.length, name).toBeGreaterThan(1);
    for (const line of options)
      expect(line).toMatch(/^ {2}-\S+( [<[][^>]+[>\]]|, --[a-z]+)?( {2,}\S|$)/);
  }
});

test.each([
  [["doctr", "--json"], "USAGE", 2, "unknown command 'doctr'"],
  [["doctor", "--json", "now"], "USAGE", 2, "too many arguments"],
  [["compare", "nothing-of-the-kind.json", "live", "--json"], "FAILED", 1, "nothing-of-the-kind"],
  [["doctor", "--json", "--stack"], "USAGE", 2, "argument missing"],
  [["drift", "--json", "--markdown"], "USAGE", 1, "cannot be used with option '--markdown'"],
  [["compare", "dev", "--json"], "USAGE", 1, "missing required argument 'b'"],
  [["init", join(__dirname), "--json"], "FAILED", 1, "is not empty"],
  [["help", "doctor", "drift", "--json"], "USAGE", 2, "Unexpected argument drift"],
  [["help", "--json", "--all"], "USAGE", 2, "Unexpected argument --all"],
  [["help", "--json", "nothing"], "USAGE", 2, "unknown command 'nothing'"],
])("%j fails as one JSON object with code, message and advice", async (args, code, exit, says) => {
  const ended = await run(...args);
  const { error } = JSON.parse(ended.out);
  expect([ended.code, error.code, error.exitCode]).toEqual([exit, code, exit]);
  expect(error.message).toContain(says);
  expect(error.message).not.toMatch(/^error: /);
  expect(error.advice).toMatch(/: npx pulumi-conversation( \w+)? (--help|doctor)/);
  const isSetUp = ["init", "emulator"].includes(args[0] ?? "");
  if (code === "FAILED")
    expect(error.advice.includes(": npx pulumi-conversation doctor")).toBe(!isSetUp);
  // People read the same on the other stream.
  expect(ended.err).toContain(error.message.split("\n")[0]);
});

test("a failure of the service keeps its code, with the address of its explanation", async () => {
  const unset = ["BASE_URL", "TOKEN_URL", "CLIENT_ID", "CLIENT_SECRET"];
  for (const name of unset) vi.stubEnv(`CONVERSATION_${name}`, undefined);
  const { code, out } = await run("explain", "--json");
  vi.unstubAllEnvs();
  expect(code).toBe(1);
  expect(JSON.parse(out).error).toMatchObject({
    code: "SETTINGS_MISSING",
    advice: expect.stringMatching(/troubleshooting\.md#settings_missing$/),
    exitCode: 1,
  });
});

test("what follows -- asks for nothing", async () => {
  const { out } = await run("doctr", "--", "--json");
  expect(out).toBe("");
});

test("help --json lists every command with its options, exit codes and valid schemas", async () => {
  const { code, out } = await run("help", "--json");
  expect(code).toBe(0);
  const catalog: Catalog = JSON.parse(out);
  expect(catalog.version).toBe(packageVersion());
  expect(catalog.commands.map(({ name }) => name)).toEqual(commands.map(({ name }) => name));
  for (const [place, { name, options, exitCodes, output }] of catalog.commands.entries()) {
    const spec = commands[place];
    const given = options.map((option) => option.name);
    expect(given).toEqual([...Object.keys(spec?.options ?? {}).map(optionName), "--json"]);
    expect(Object.keys(exitCodes), name).toContain("1");
    z.fromJSONSchema(output);
  }
  const failed = JSON.parse((await run("doctr", "--json")).out);
  expect(z.fromJSONSchema(catalog.failure).safeParse(failed).success).toBe(true);
  const one = JSON.parse((await run("help", "drift", "--json")).out);
  expect(one.commands).toEqual(catalog.commands.filter(({ name }) => name === "drift"));
  expect((await run("help", "nothing", "--json")).code).toBe(2);
  expect(JSON.parse((await run("help", "help", "--json")).out)).toEqual(catalog);
});

interface Catalog {
  readonly version: string;
  readonly commands: readonly {
    readonly name: string;
    readonly options: readonly { readonly name: string }[];
    readonly exitCodes: Readonly<Record<string, string>>;
    readonly output: z.core.JSONSchema.JSONSchema;
  }[];
  readonly failure: z.core.JSONSchema.JSONSchema;
}

test("there is a file for the schema of every command, and none of a command that is gone", () => {
  const files = readdirSync(join(__dirname, "../../docs/schemas"));
  const names = [...commands.map(({ name }) => name), "help", "failure"];
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
});
