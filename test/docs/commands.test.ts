import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../../cli/program.js";
import { describeSettings } from "../../provider/service/settings.js";
import { recordedSession } from "../cli/session.js";
import { inlineCommands, pageCommands, simpleCommands } from "./page-commands.js";

const root = join(__dirname, "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const reported = ({ page, line, text }: { page: string; line: number; text: string }): string =>
  `${page}:${line}: ${text}`;

/** Why the command line would refuse these words; undefined where it takes them. Nothing is run. */
const refusalOf = (words: readonly string[]): string | undefined => {
  const { session, written } = recordedSession();
  const program = createProgram(session);
  for (const command of program.commands) command.action(() => undefined);
  try {
    program.parse(words, { from: "user" });
    return undefined;
  } catch {
    return written.err || undefined;
  }
};

/** The words after the name of our program, however it is started. */
const ownWords = (words: readonly string[]): readonly string[] | undefined => {
  const [first, ...rest] = words[0] === "npx" ? words.slice(1) : words;
  if (first === "pulumi-conversation") return rest;
  return words.slice(0, 4).join(" ") === "npm run emulator --"
    ? ["emulator", ...words.slice(3)]
    : undefined;
};

/** Beyond what pages show: `…` and `<name>` stand for what the reader gives. */
const given = (word: string): string => word.replace(/^\[.*\]$/, "");

const problemsOf = (text: string): readonly string[] =>
  simpleCommands(text).flatMap((words) => {
    const own = ownWords(words)?.map(given).filter(Boolean);
    return own && own.length > 0 ? [refusalOf(own) ?? []].flat() : [];
  });

test("the command line takes every command of every shell block", () => {
  expect(pageCommands.length).toBeGreaterThan(70);
  const wrong = pageCommands.flatMap((command) =>
    problemsOf(command.text).map((problem) => `${reported(command)}: ${problem}`),
  );
  expect(wrong).toEqual([]);
});

/** A command that is named without all that it needs, such as `pulumi-conversation export`, lacks nothing on a page. */
const lacks = /missing required argument|required option/;

test("the command line takes every command that a page names in its text", () => {
  const named = inlineCommands(/^(npx )?pulumi-conversation \w/);
  expect(named.length).toBeGreaterThan(20);
  const wrong = named.flatMap((command) =>
    problemsOf(command.text.replaceAll(/[<>…]/g, "x"))
      .filter((problem) => !lacks.test(problem))
      .map((problem) => `${reported(command)}: ${problem}`),
  );
  expect(wrong).toEqual([]);
});

const sourcesIn = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [join(folder, name), read(join(folder, name))]);

test("the command line takes every command that a message or a comment advises", () => {
  const sources = ["cli", "provider", "sdk", "emulator"].flatMap(sourcesIn);
  const commands = new Set(createProgram(recordedSession().session).commands.map((c) => c.name()));
  const advised = sources.flatMap(([file, text]) =>
    [
      ...text.matchAll(
        /(?:pulumi-conversation |(?:own|sameStack)Command\(["`])([a-z][a-z-]+)((?: --[a-z-]+| [.<][^\s"`]+)*)/g,
      ),
    ].flatMap(([whole, name = "", options = ""]) =>
      commands.has(name) ? [{ file, whole, name, options: options.trim().split(" ") }] : [],
    ),
  );
  expect(advised.length).toBeGreaterThan(20);
  const withoutNpx = sources.flatMap(([file, text]) =>
    [...text.matchAll(/(?:[:.,(] ?|\b[Rr]un )pulumi-conversation ([a-z-]+)/g)].flatMap(
      ([whole, name = ""]) => (commands.has(name) ? [`${file}: ${whole}`] : []),
    ),
  );
  expect(withoutNpx).toEqual([]);
  const program = createProgram(recordedSession().session);
  const wrong = advised.filter(({ name, options }) => {
    const command = program.commands.find((each) => each.name() === name) ?? new Command();
    const known = command.options.map(({ long }) => long);
    return options.some((option) => option.startsWith("--") && !known.includes(option));
  });
  expect(wrong.map(({ file, whole }) => `${file}: ${whole}`)).toEqual([]);
});

test("every script, file and variable of a shell block is there", () => {
  const scripts = ["package.json", "examples/new-project/package.json"].flatMap((path) =>
    Object.keys(JSON.parse(read(path)).scripts),
  );
  const settings = describeSettings().map(({ environment }) => environment);
  for (const { page, text } of pageCommands) {
    for (const [, script] of text.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toContain(script);
    for (const [, folder = ""] of text.matchAll(/^cd (examples\/[\w/-]+)/g))
      expect(existsSync(join(root, folder)), page).toBe(true);
    for (const [name] of text.matchAll(/CONVERSATION_[A-Z_]+/g))
      expect([...settings, "CONVERSATION_CONTROL_SECRET"]).toContain(name);
    for (const [, key = ""] of text.matchAll(
      /config set (?:--secret )?conversation:(?:\w+\.)?(\w+)/g,
    ))
      expect(describeSettings().map((setting) => setting.key)).toContain(key);
  }
});
