import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { pages, readPage } from "./docs/pages.js";

/** Words and phrases that no page, doc comment or message has, and what to write instead. */
const unused: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:base|token|signed|control|callback|proxy) address\b/gi, "URL"],
  [/\b(?:no|lost) answer\b|\bthe answer of\b/gi, "response"],
  [/\b(?:leaves?|left) (?:them )?out\b/gi, "omit, absent"],
  [/\bservice signs in\b/gi, "authenticates"],
  [/\bcancell(?:ed|ing)\b/g, "canceled, canceling"],
  [/\b(?:behaviou?r|colou?r|favou?r)(?<=our)s?\b/gi, "American English"],
  [/\breceivers?\b/gi, "recipient"],
  [/\blife cycle\b/gi, "lifecycle"],
  [/\b(?:told|tells?)\b/gi, "says, shows, reports"],
  [/\b(?:set|look|time|back|log)-(?:ups?|outs?|offs?|ins?)\b/gi, "one word"],
  [/\bstands? (?:in|on|at|below|beside|above|with|nowhere)\b/gi, "is"],
  [/\bin the place of\b/gi, "instead of"],
  [/\b(?:goes|went|gone) through\b/gi, "succeed"],
  [/\banswer(?:s|ed)? (?:with |a )?[1-5]\d\d\b/gi, "return"],
  [/\bas far as\b/gi, "if, or what sets the limit"],
  [/\bfor (?:its|their) rate\b/gi, "because of the rate limit"],
  [/\bor newer\b/gi, "or later"],
  [/\bleft-overs?\b/gi, "leftover"],
  [/\bclear text\b/gi, "plain text"],
  [/\bat work\b/gi, "active, running"],
  [/\bfor ever\b/gi, "forever"],
  [/\b(an?|and|are|for|in|is|it|of|the|to|with) \1\b/gi, "one of the two words"],
  [/\b(?:whilst|amongst|towards|amidst|thereby|wherein|hereby)\b/gi, "plain words"],
];

const root = join(__dirname, "..");
/** The strings of a file, and the doc comments of what it exports. */
const textsOf = (file: string): readonly string[] => {
  const text = readFileSync(join(root, file), "utf8");
  const docs = file.startsWith("cli/")
    ? undefined
    : text.match(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/(?=\nexport | *\n {2}(?:static )?\w+\??[(:])/g);
  const said = (docs ?? []).map((doc) => doc.replace(/\n *\*/g, " "));
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node);
    if (isText && node.text.includes(" ")) said.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return said;
};

const withoutCode = (text: string): string =>
  text.replace(/^ *```[\s\S]*?^ *```$/gm, "·").replace(/`[^`]*`|\]\([^)]*\)/g, "·");

const unusedIn = (file: string, text: string): readonly string[] =>
  unused.flatMap(([pattern, instead]) =>
    [...withoutCode(text).matchAll(pattern)].map(([word]) => `${file}: "${word}": ${instead}`),
  );

test("no page has an unused word", () => {
  const read = pages.filter(
    (page) => !/^docs\/(?:api\/.*|resources|cli|bench|install-matrix)\.md$/.test(page),
  );
  expect(read.flatMap((page) => unusedIn(page, readPage(page)))).toEqual([]);
});

test.each(["sdk", "provider", "emulator", "cli"])(
  "the words for users in %s are none of them",
  (folder) => {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|mts|mjs)$/.test(name))
      .map((name) => join(folder, name));
    const wrong = files.flatMap((file) => textsOf(file).flatMap((text) => unusedIn(file, text)));
    expect(wrong).toEqual([]);
  },
);

test("an unused word is found in prose, and not in code", () => {
  expect(unusedIn("page.md", "The run tells `told` the the state.")).toHaveLength(2);
});
