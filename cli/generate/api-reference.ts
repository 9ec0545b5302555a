import { join } from "node:path";
import ts from "typescript";
import { commentOf } from "./component-docs.js";
import { type ExportedDeclaration, exportedDeclarations } from "./exported-declarations.js";

/** What can be imported, by the name behind that of the package. */
const entryPoints = {
  "": {
    file: "sdk/index.d.ts",
    says: "What programs declare. Limits and sources of every field: [Resources](../resources.md).",
  },
  runtime: { file: "sdk/runtime/index.d.ts", says: "The client of a running account." },
  pkce: { file: "sdk/runtime/pkce.d.ts", says: "Signing in customers, for browsers too." },
  emulator: { file: "emulator/index.d.ts", says: "The service on this machine." },
  testing: { file: "sdk/testing/index.d.ts", says: "Tests of programs and conversations." },
  policies: { file: "sdk/policies/index.d.ts", says: "Rules for stacks." },
  "provider/v1": {
    file: "provider/v1.d.ts",
    says: "What the state of every resource leads to. Not for direct use.",
  },
} as const;

type EntryPoint = keyof typeof entryPoints;

/** In running text a bar ends a cell, and a line end the row. */
const cell = (text: string): string =>
  text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll(/\s+/g, " ").trim();

const code = (text: string): string => `\`${text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")}\``;

const tagsOf = (node: ts.Node, tag: string): readonly string[] =>
  ts
    .getJSDocTags(node)
    .filter(({ tagName }) => tagName.text === tag)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "");

const parametersOf = (node: ts.Node): readonly string[] =>
  ts
    .getJSDocTags(node)
    .filter(ts.isJSDocParameterTag)
    .map(
      ({ name, comment }) =>
        `\`${name.getText()}\`: ${(ts.getTextOfJSDocComment(comment) ?? "").replace(/^-\s*/, "")}`,
    );

const isPublic = (member: ts.ClassElement | ts.TypeElement): boolean => {
  const hidden = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : [];
  return (
    member.name !== undefined &&
    !ts.isPrivateIdentifier(member.name) &&
    !modifiers.some(({ kind }) => hidden.includes(kind))
  );
};

/** How a member is written, without words that say nothing to its user. */
const shapeOf = (member: ts.Node, source: ts.SourceFile): string =>
  member
    .getText(source)
    .replaceAll(/\b(readonly|declare|export|static|override) /g, "")
    .replaceAll(/\/\*\*.*?\*\//gs, "")
    .replaceAll(/ \| undefined/g, "")
    .replace(/;$/, "");

const memberRows = ({ node, source }: ExportedDeclaration): readonly string[] => {
  if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return [];
  return [...node.members]
    .filter(isPublic)
    .map((member) => `| ${code(shapeOf(member, source))} | ${cell(meaningOf(member))} |`);
};

const meaningOf = (member: ts.Node): string =>
  [
    commentOf(member),
    ...parametersOf(member).map((one) => `${one}.`),
    ...tagsOf(member, "throws").map((one) => `Fails: ${one}`),
  ].join(" ");

const headOf = ({ node, source }: ExportedDeclaration): string => {
  const isLong = ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node);
  const text = node.getText(source).replace(/^export (declare )?/, "");
  return isLong ? text.slice(0, text.indexOf("{")).trim() : text;
};

const section = (declared: ExportedDeclaration): string => {
  const { name, node } = declared;
  const rows = memberRows(declared);
  const parameters = parametersOf(node).map((one) => `- ${one}`);
  return [
    `## \`${name}\``,
    commentOf(node),
    `\`\`\`text\n${headOf(declared)}\n\`\`\``,
    ...(parameters.length > 0 ? [parameters.join("\n")] : []),
    ...tagsOf(node, "throws").map((one) => `Fails: ${one}`),
    ...(rows.length > 0 ? [["| Member | Meaning |", "|---|---|", ...rows].join("\n")] : []),
    ...tagsOf(node, "example").map((one) => `\`\`\`typescript\n${one}\n\`\`\``),
  ]
    .filter(Boolean)
    .join("\n\n");
};

const pageOf = (entry: EntryPoint, build: string): string => {
  const { file, says } = entryPoints[entry];
  const found = [...exportedDeclarations(join(build, file))].sort((a, b) =>
    a.name.localeCompare(b.name, "en"),
  );
  return `${[
    `# \`${["pulumi-conversation", entry].filter(Boolean).join("/")}\``,
    `${says} Every name that can be imported from here, from its doc comment.`,
    ...found.map(section),
  ].join("\n\n")}\n`;
};

/**
 * A page for every entry point, by its path.
 *
 * @param build folder of the build, whose declarations are read
 */
export const apiReference = (build: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (Object.keys(entryPoints) as EntryPoint[]).map((entry) => [
      `docs/api/${entry.replaceAll("/", "-") || "index"}.md`,
      pageOf(entry, build),
    ]),
  );
