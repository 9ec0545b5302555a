import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { packageSchema } from "../../provider/plugin/schema.js";
import * as conversation from "../../sdk/index.js";
import { virtualProgram } from "../support/virtual-program.js";
import { blocksIn, type CodeBlock } from "./pages.js";

const context = join(__dirname, "reader-context.ts");
/** The examples of doc comments are compiled where they stand, with what they take for granted. */
const blocks = blocksIn("ts", "typescript").filter(({ page }) => !page.startsWith("docs/api/"));

/** Files that a reader has beside the one that a block is of. */
const beside: readonly (readonly [string, string])[] = [
  ["index.ts", "export {};"],
  // Of the guide to a first bot, whose blocks import each other.
  ["bot.mts", blocks.find(({ code }) => code.startsWith("// bot.mts\n"))?.code ?? ""],
];

/** A block that names its file in its first line is compiled as a file of that kind. */
const fileOf = ({ code }: CodeBlock, at: number): string =>
  join(__dirname, `block-${at}.${/^\/\/ \S+\.mts\n/.test(code) ? "mts" : "ts"}`);

/** What a block without imports of its own leaves to the reader. */
const head = [
  'import * as pulumi from "@pulumi/pulumi";',
  `import { ${Object.keys(conversation).join(", ")} } from "pulumi-conversation";`,
].join(" ");

/** In one line more than the page has: the lines of errors are counted from it. */
const moduleOf = ({ code }: CodeBlock): string =>
  /^import /m.test(code) ? `export {};\n${code}` : `${head}\nexport {};${code}`;

const reported = (block: CodeBlock, { start = 0, messageText, file }: ts.Diagnostic): string => {
  const line = file ? file.getLineAndCharacterOfPosition(start).line : 0;
  const text = ts.flattenDiagnosticMessageText(messageText, " ");
  return `${block.page}:${block.line + line - 1}: ${text}`;
};

test("every TypeScript block of every page compiles", () => {
  expect(blocks.length).toBeGreaterThan(10);
  const files = new Map([
    ...beside.map(([name, text]) => [join(__dirname, name), text] as const),
    ...blocks.map((block, at) => [fileOf(block, at), moduleOf(block)] as const),
  ]);
  const program = virtualProgram(files, [context]);
  const errors = blocks.flatMap((block, at) => {
    const source = program.getSourceFile(fileOf(block, at));
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map((diagnostic) => reported(block, diagnostic));
  });
  expect(errors).toEqual([]);
});

test("a text message without a sender is refused with a word about the sender, not about attachments", () => {
  const file = join(__dirname, "no-sender.mts");
  const text = `import type { ConversationClient } from "pulumi-conversation/runtime";
export const reply = (hub: ConversationClient) => hub.messages.reply("c", { type: "text", text: "x" });`;
  const program = virtualProgram(new Map([[file, text]]), [context]);
  const [error, ...others] = program.getSemanticDiagnostics(program.getSourceFile(file));
  const said = ts.flattenDiagnosticMessageText(error?.messageText ?? "", " ");
  expect(said).toMatch(/Property 'sender' is missing/);
  expect(others).toEqual([]);
});

test("every JSON block of every page is JSON", () => {
  for (const { page, line, code } of blocksIn("json"))
    expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow();
});

/** As Pulumi's generator for Go writes the name of a property. */
const goName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const lastPart = (token: string): string => token.split(":").at(-1) ?? "";

/** The Python name that Pulumi generates for a property. */
const pythonName = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test("every name in the Go and Python blocks is one that Pulumi generates from the plugin's schema", () => {
  const { resources, types } = packageSchema();
  const kinds = Object.entries(resources).map(([token, spec]) => [lastPart(token), spec] as const);
  const named = Object.entries(types).map(([token, spec]) => [lastPart(token), spec] as const);
  const classes = new Set([
    ...kinds.flatMap(([kind]) => [kind, `New${kind}`, `${kind}Args`]),
    ...named.flatMap(([name]) => [name, `${name}Args`, `${name}Array`]),
  ]);
  const members = [
    ...kinds.flatMap(([, { inputProperties }]) => Object.keys(inputProperties)),
    ...named.flatMap(([, spec]) => ("properties" in spec ? Object.keys(spec.properties) : [])),
  ];
  const wrongIn = (language: string, memberForm: RegExp, nameOf: (name: string) => string) => {
    const blocks = blocksIn(language);
    expect(blocks.length).toBeGreaterThan(1);
    const known = new Set(members.map(nameOf));
    const all = blocks.flatMap(({ code }) => [
      ...[...code.matchAll(/conversation\.(\w+)/g)].filter(([, name = ""]) => !classes.has(name)),
      ...[...code.matchAll(memberForm)].filter(([, name = ""]) => !known.has(name)),
    ]);
    return all.map(([name]) => name);
  };
  expect(wrongIn("go", /\b([A-Z]\w*):/g, goName)).toEqual([]);
  expect(wrongIn("python", /\b([a-z_]+)(?:": |=)/g, pythonName)).toEqual([]);
});
