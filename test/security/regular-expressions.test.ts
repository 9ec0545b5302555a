import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { analyse } from "scslre";
import ts from "typescript";
import { expect, test } from "vitest";

const root = join(__dirname, "..", "..");

const sources = ["provider", "sdk", "emulator", "cli"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    // Those of the page's libraries see nothing but the page's own templates.
    .filter((name) => /\.(ts|mts|mjs)$/.test(name) && !/page.browser.vendor/.test(name))
    .map((name) => join(folder, name)),
);

/** Every regular expression of a source, with the line that it stands in. */
const expressionsIn = (file: string) => {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), "utf8"),
    ts.ScriptTarget.ES2022,
    true,
  );
  const found: { readonly at: string; readonly literal: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ at: `${file}:${line + 1}`, literal: node.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

/** Why an expression takes more than linear time for some text; empty where it takes linear time for all. */
const problemsOf = (literal: string): readonly string[] => {
  const end = literal.lastIndexOf("/");
  const { reports } = analyse({ source: literal.slice(1, end), flags: literal.slice(end + 1) });
  return reports.map(({ type, exponential }) => `${type}${exponential ? ", exponential" : ""}`);
};

test("every regular expression takes linear time, whatever text it is given", () => {
  const slow = sources
    .flatMap(expressionsIn)
    .flatMap(({ at, literal }) => problemsOf(literal).map((why) => `${at} ${literal}: ${why}`));
  expect(slow).toEqual([]);
});
