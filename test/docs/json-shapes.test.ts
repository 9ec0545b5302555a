import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { jsonMembers, jsonSchemas } from "../../cli/generate/command-reference.js";
import { createProgram } from "../../cli/program.js";
import { recordedSession } from "../cli/session.js";

const { commands } = createProgram(recordedSession().session);
const printing = commands.filter(({ options }) => options.some(({ long }) => long === "--json"));
const names = printing.map((command) => command.name());

test("every command prints JSON, and has a schema for it", () => {
  expect(names).toEqual(commands.map((command) => command.name()));
  expect(Object.keys(jsonSchemas).toSorted()).toEqual(names.toSorted());
});

/** Names of members, `?` after those that may be left out; below them theirs, where they are told. */
interface Members {
  [name: string]: Members | undefined;
}

/** Members of a schema; those of maps stand for the map. */
const schemaMembers = (schema: unknown): Members => {
  const root: Members = {};
  for (const { path, isOptional } of jsonMembers(schema)) {
    const names = path
      .replaceAll(/\[\]|\.<name>/g, "")
      .split(".")
      .filter(Boolean);
    let place = root;
    for (const name of names.slice(0, -1)) {
      const shown = Object.hasOwn(place, name) ? name : `${name}?`;
      place = place[shown] ??= {};
    }
    place[`${names.at(-1)}${isOptional ? "?" : ""}`] = undefined;
  }
  return root;
};

/** Reads `{ a, b?, c: [{ d }], e: [text] }` as a help shows it. */
const shownMembers = (shape: string): Members => {
  const tokens = shape.match(/[{}[\]:,]|"[^"]*"|[\w-]+\??|<\w+>|\|/g) ?? [];
  let at = 0;
  const value = (): Members | undefined => {
    const token = tokens[at++];
    if (token === "[") {
      const inner = value();
      while (tokens[at] !== "]") at++;
      at++;
      return inner;
    }
    if (token !== "{") return undefined;
    const members: Members = {};
    while (tokens[at] !== "}") {
      const name = tokens[at++] ?? "";
      const isTold = tokens[at] === ":";
      if (isTold) at++;
      const below = isTold ? value() : undefined;
      // The keys of a map have no names of their own.
      if (name.startsWith("<")) Object.assign(members, below);
      else members[name] = below;
      while (tokens[at] === ",") at++;
      if (at >= tokens.length) throw new Error(`not closed: ${shape}`);
    }
    at++;
    return members;
  };
  return value() ?? {};
};

/** What the help leaves to the schema is left out of both. */
const asShown = (schema: Members | undefined, shown: Members | undefined): Members | undefined =>
  shown &&
  schema &&
  Object.fromEntries(
    Object.entries(schema).map(([name, below]) => [name, asShown(below, shown[name])]),
  );

const shapesIn = (help: string): readonly string[] =>
  [
    ...help.matchAll(
      /JSON(?: of --\w+)?: ([[{][\s\S]*?)(?=\n\n|\nJSON|\n {2}lost with| as the first| +-h|$)/g,
    ),
  ].map(([, shape = ""]) => shape);

const helpOf = (name: string): string => {
  const { session, written } = recordedSession();
  createProgram(session)
    .commands.find((command) => command.name() === name)
    ?.configureOutput({ getOutHelpWidth: () => 100 })
    .outputHelp();
  return written.out;
};

test.each(names)("the help of %s names the members of its JSON", (name) => {
  const schema = jsonSchemas[name] ?? z.never();
  const alternatives = schema instanceof z.ZodUnion ? schema.options : [schema];
  const shapes = shapesIn(helpOf(name)).map(shownMembers);
  expect(shapes).toHaveLength(alternatives.length);
  for (const [place, shown] of shapes.entries()) {
    const members = schemaMembers(z.toJSONSchema(alternatives[place] ?? z.never()));
    expect(shown).toEqual(asShown(members, shown));
  }
});

const root = join(__dirname, "..");
const sources = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.test\.m?ts$/.test(name))
  .map((name) => readFileSync(join(root, name), "utf8"))
  .join("\n");

/** Commands whose lines a test runs from a list, with --json behind each. */
const listed = [...sources.matchAll(/^ {4}\["([a-z-]+)"/gm)].map(([, name]) => name);

test.each(names)("a test runs %s with --json, and so checks what it prints", (name) => {
  const called = new RegExp(
    `(tool\\(\\s*\\[|run\\()\\s*"${name}",[^;]*?"--json"|\\b${name}\\("--json"`,
  );
  expect(called.test(sources) || listed.includes(name)).toBe(true);
});
