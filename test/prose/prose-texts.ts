import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { pages, readPage } from "../docs/pages.js";
import type { ProseText } from "./prose-linter.js";

const root = join(__dirname, "../..");

/** Pages that the generator, the bench, the install matrix or a test writes: their words come from code. */
const isWritten = (page: string): boolean =>
  !/^docs\/(api\/.*|resources|cli|bench|install-matrix)\.md$/.test(page);

/** The last tables of the glossary list what not to write. */
const withoutWordList = (text: string): string => text.split("## Words that are not used")[0] ?? "";

/** A page with the part that the generator writes between two markers blank, line for line. */
const byHand = (text: string): string =>
  text.replace(/<!-- (\w+) -->[\s\S]*?<!-- \/\1 -->/g, (part) => part.replaceAll(/[^\n]/g, ""));

const pageTexts = (): readonly ProseText[] =>
  pages
    .filter(isWritten)
    .map((page) => ({ file: page, line: 1, text: withoutWordList(byHand(readPage(page))) }));

const sourcesIn = (folders: readonly string[]): readonly ts.SourceFile[] =>
  folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(ts|mts|mjs)$/.test(name) && !name.endsWith(".d.ts"))
        .map((name) => join(folder, name)),
    )
    .map((file) =>
      ts.createSourceFile(
        file,
        readFileSync(join(root, file), "utf8"),
        ts.ScriptTarget.Latest,
        true,
      ),
    );

const lineOf = (node: ts.Node): number => {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
};

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** `{@link name}` as code, as a reader sees it. */
const commentText = (comment: ts.JSDoc["comment"]): string =>
  (ts.getTextOfJSDocComment(comment) ?? "").replaceAll(
    /\{@link (?:[^}|]*\|)?\s*([^}|]*)\}/g,
    "`$1`",
  );

const commentsOf = (node: ts.Node): readonly ProseText[] =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter((comment) => comment.parent === node || comment.parent.parent === node)
    .map((comment) => ({
      file: node.getSourceFile().fileName,
      line: lineOf(comment),
      text: commentText(comment.comment),
    }));

/** The comments of all that a file exports, down to members, and not those within functions. */
const docComments = (source: ts.SourceFile): readonly ProseText[] => {
  const texts: ProseText[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) return;
    texts.push(...commentsOf(node));
    ts.forEachChild(node, visit);
  };
  for (const statement of source.statements) if (isExported(statement)) visit(statement);
  return texts.filter(({ text }) => text !== "");
};

/** A string or template with `value` for what is put in; parts that are added count as one text. */
const literalText = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return [
      node.head.text,
      ...node.templateSpans.map(({ literal }, place) => `\`value${place}\`${literal.text}`),
    ].join("");
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [literalText(node.left), literalText(node.right)];
    return left === undefined && right === undefined
      ? undefined
      : (left ?? "`value`") + (right ?? "`value`");
  }
  return undefined;
};

/** `["One part", "and another"].join(" ")`: one text. */
const joinedText = (node: ts.Node): string | undefined => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
  const { expression: list, name } = node.expression;
  const [by] = node.arguments;
  if (name.text !== "join" || !ts.isArrayLiteralExpression(list)) return;
  if (!by || !ts.isStringLiteral(by) || !/^[ \n]*$/.test(by.text)) return;
  const texts = list.elements.map(literalText);
  return texts.every((text) => text !== undefined) ? texts.join(by.text) : undefined;
};

/** Strings in which these files write code: for shells, and for TypeScript, whose comments are read there. */
const writeCode = ["cli/completion.ts", "cli/generate/resource-classes.ts"];

const withoutParentheses = (node: ts.Node): ts.Node =>
  ts.isParenthesizedExpression(node) ? node.expression : node;

/** `"one two three".split(" ")`: a list of words. */
const isWordList = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  ts.isPropertyAccessExpression(node.expression) &&
  node.expression.name.text === "split" &&
  literalText(withoutParentheses(node.expression.expression)) !== undefined;

/** A list for a terminal, such as `  deleted    the object is gone`, as a list of Markdown. */
const withoutColumns = (text: string): string =>
  text
    .replaceAll(/^( .*\n)(?=[^ \n])/gm, "$1\n")
    .replaceAll(/^ {2}(\S+(?: \S+)*) {2,}/gm, "- `$1` ")
    .replaceAll(/^ +/gm, "");

/** Three words of letters, one after the other: a sentence, or part of one, and no code. */
const isProse = (text: string): boolean =>
  /(?:^|[\s(])[A-Za-z][a-z’']*,? [a-z’'-]+,? [a-z’'-]+/.test(text);

/** Each string of a file that has words for a person. */
const messages = (source: ts.SourceFile): readonly ProseText[] => {
  const texts: ProseText[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || isWordList(node)) return;
    const text = joinedText(node) ?? literalText(node);
    if (text === undefined) ts.forEachChild(node, visit);
    else if (isProse(text))
      texts.push({ file: source.fileName, line: lineOf(node), text: withoutColumns(text) });
  };
  visit(source);
  return texts;
};

/** The emulator's page before its scripts run, without tags. */
const pageFrame = (): ProseText => {
  const file = "emulator/page/browser/index.html";
  const text = readFileSync(join(root, file), "utf8");
  return { file, line: 1, text: text.replaceAll(/<[^>]*>|^ +/gm, "") };
};

/** Each kind of text that a person reads, by name. */
export const proseTexts: Readonly<Record<string, () => readonly ProseText[]>> = {
  pages: pageTexts,
  "doc comments": () => sourcesIn(["sdk", "provider", "emulator"]).flatMap(docComments),
  messages: () => [
    pageFrame(),
    ...sourcesIn(["sdk", "provider", "emulator", "cli"])
      .filter(({ fileName }) => !writeCode.includes(fileName))
      .flatMap(messages),
  ],
};
