import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { isExported, namesOf } from "../../cli/generate/api-reference.js";
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

/** The names that `export { … }` exports. */
const exportedBelow = ({ statements }: ts.SourceFile): ReadonlySet<string> =>
  new Set(
    statements
      .flatMap((each) => (ts.isExportDeclaration(each) && each.exportClause) || [])
      .flatMap((clause) => (ts.isNamedExports(clause) ? clause.elements : []))
      .map(({ name, propertyName = name }) => propertyName.text),
  );

/** `{@link name}` as code, as a reader sees it. */
const commentText = (comment: ts.JSDoc["comment"]): string =>
  (ts.getTextOfJSDocComment(comment) ?? "").replaceAll(
    /\{@link (?:[^}|]*\|)?\s*([^}|]*)\}/g,
    "`$1`",
  );

/** Tags whose text is a sentence, or part of one; others hold code or names. */
const saysWords = (comment: ts.JSDoc | ts.JSDocTag): boolean =>
  ts.isJSDoc(comment) ||
  ["param", "returns", "throws", "deprecated", "remarks"].includes(comment.tagName.text);

const commentsOf = (node: ts.Node): readonly ProseText[] =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter((comment) => comment.parent === node || comment.parent.parent === node)
    .flatMap((comment) => (ts.isJSDoc(comment) ? [comment, ...(comment.tags ?? [])] : [comment]))
    .filter(saysWords)
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
  const below = exportedBelow(source);
  for (const statement of source.statements)
    if (isExported(statement) || namesOf(statement).some((name) => below.has(name)))
      visit(statement);
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

/** The words of a comment: what is indented in it is a command. */
const withoutMarks = (comment: string): string =>
  comment
    .replaceAll(/^\/\*\*?|\*\/$|^ *(?:\/\/|\*) ?/gm, "")
    .replaceAll(/^ {2,}.*$/gm, "")
    .replaceAll(/^ *@\w+(?: \{[^}]*\})?/gm, "\n");

/** Every comment of a program, also within functions; a block of lines is one. */
const allComments = (source: ts.SourceFile): readonly ProseText[] => {
  const { text, fileName: file } = source;
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ])
      found.set(pos, withoutMarks(text.slice(pos, end)));
    ts.forEachChild(node, visit);
  };
  visit(source);
  const comments = [...found].toSorted(([one], [other]) => one - other);
  return comments.map(([pos, comment]) => ({
    ...{ file, text: comment },
    line: source.getLineAndCharacterOfPosition(pos).line + 1,
  }));
};

/** The comments of a file whose comments begin with `#`, and what its lines say in quotes. */
const scriptTexts = (file: string): readonly ProseText[] => {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  // What is indented in a comment is a command.
  const comment = lines.map((line) => /^ *# ?(?! |!)(.*)/.exec(line)?.[1] ?? "");
  const said = lines.flatMap((line, place) =>
    [...line.matchAll(/"([^"]*)"/g)]
      .map(([, quoted = ""]) =>
        quoted.replaceAll(/\$\{?\w+[^}\s]*\}?/g, "`value`").replaceAll(/'(\w+)'/g, "`$1`"),
      )
      .filter((quoted) => !/^ *#/.test(line) && isProse(quoted))
      .map((text) => ({ file, line: place + 1, text })),
  );
  return [{ file, line: 1, text: comment.join("\n") }, ...said];
};

/** The programs and scripts that a user starts from: the examples, and what `init` writes. */
const exampleTexts = (): readonly ProseText[] => [
  ...sourcesIn(["examples"]).flatMap((source) => [...allComments(source), ...messages(source)]),
  ...readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(sh|ya?ml)$/.test(name) && !name.includes("node_modules"))
    .flatMap((name) => scriptTexts(join("examples", name))),
];

/** The emulator's page before its scripts run, without tags. */
const pageFrame = (): ProseText => {
  const file = "emulator/page/browser/index.html";
  const text = readFileSync(join(root, file), "utf8");
  const said = text.replaceAll(/<[^>]*?(?:(?:aria-label|title|content)="([^"]*)"[^>]*)?>/g, " $1 ");
  return { file, line: 1, text: said.replaceAll(/^ +/gm, "") };
};

/** What registries show of the package. */
const packageText = (): readonly ProseText[] => {
  const { description } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return [{ file: "package.json", line: 1, text: description }];
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
    ...packageText(),
  ],
  examples: exampleTexts,
};
