import { expect, test } from "vitest";
import { type Documented, documented, exampleErrors, examples } from "./support/public-docs.js";

const namesOf = (wrong: readonly Documented[]): readonly string[] =>
  wrong.map(({ file, name }) => `${file}: ${name}`);

/** What a program never makes or calls by itself. */
const isIndirect = ({ text }: Documented): boolean => /not for direct use/i.test(text);

const saysFailure = ({ text, tags, owner }: Documented): boolean =>
  tags.includes("throws") || /\bfail(s|ures?)?\b/i.test(`${text} ${owner}`);

const compilerTime = 60_000;

test("every example of the documentation compiles where a user writes it", {
  timeout: compilerTime,
}, () => {
  expect(examples.length).toBeGreaterThan(30);
  expect(exampleErrors()).toEqual([]);
});

test("all that is public says what it is", { timeout: compilerTime }, () => {
  expect(documented().length).toBeGreaterThan(300);
  const silent = documented().filter(({ text }) => text === "");
  expect(namesOf(silent)).toEqual([]);
});

test("every function, class and method says how it fails, or that it does not", {
  timeout: compilerTime,
}, () => {
  const silent = documented()
    .filter(({ kind }) => kind === "function" || kind === "class" || kind === "method")
    .filter((symbol) => !saysFailure(symbol));
  expect(namesOf(silent)).toEqual([]);
});

test("every function and class that a program uses shows how", { timeout: compilerTime }, () => {
  const silent = documented()
    .filter(({ kind }) => kind === "function" || kind === "class")
    .filter((symbol) => !isIndirect(symbol) && !symbol.tags.includes("example"));
  expect(namesOf(silent)).toEqual([]);
});
