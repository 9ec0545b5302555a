import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { z } from "zod";
import { cell, commentOf, tagsOf } from "./doc-comments.js";
import { type ExportedDeclaration, exportedDeclarations } from "./exported-declarations.js";
import { spelledType } from "./spelled-types.js";

/** What each entry point of the package is for. */
const purposes: Readonly<Record<string, string>> = {
  ".": "What programs declare. Limits and sources of every field: [Resources](../resources.md).",
  "./runtime": "The client of a running account.",
  "./pkce": "Signing in customers, for browsers too.",
  "./emulator": "The service on this machine.",
  "./testing": "Tests of programs and conversations.",
  "./policies": "Rules for stacks.",
  "./provider/v1": "What the state of every resource leads to. Not for direct use.",
};

const manifestSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])),
});

/** The signs of a tag would be taken for one. */
const textCell = (text: string): string => cell(text).replaceAll("<", "&lt;").trim();

const code = (text: string): string => `\`${cell(text)}\``;

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

/** What may be left out may be undefined as well: that it says so once is enough. */
const orLeftOut = /(\?: [^;,()\n]*?) \| undefined(?=[;,)\n]|$)/g;

/** How a member is written, without words that say nothing to its user. */
const shapeOf = (member: ts.Node, source: ts.SourceFile): string => {
  const shape = member
    .getText(source)
    .replaceAll(/\b(readonly|declare|export|static|override) /g, "")
    .replaceAll(/\/\*\*.*?\*\//gs, "")
    .replaceAll(orLeftOut, "$1")
    .replace(/;$/, "");
  const isOptional = ts.isPropertySignature(member) && member.questionToken;
  return isOptional ? shape.replace(/ \| undefined$/, "") : shape;
};

const memberRows = ({ node, source }: ExportedDeclaration): readonly string[] => {
  if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return [];
  return [...node.members]
    .filter(isPublic)
    .map((member) => `| ${code(shapeOf(member, source))} | ${textCell(meaningOf(member))} |`);
};

const meaningOf = (member: ts.Node): string =>
  [
    commentOf(member),
    ...parametersOf(member).map((one) => `${one}.`),
    ...tagsOf(member, "throws").map((one) => `Fails: ${one}`),
  ].join(" ");

/** A value of many members, by their names. */
const shortened = (node: ts.Statement, text: string): string => {
  if (!ts.isVariableStatement(node) || text.split("\n").length < 40) return text;
  const type = node.declarationList.declarations[0]?.type;
  if (!type || !ts.isTypeLiteralNode(type)) return text;
  const names = type.members.map((member) => {
    const doc = /readonly doc: ("(?:[^"\\]|\\.)*");/.exec(member.getText())?.[1];
    return `    ${member.name?.getText()}: …;${doc ? ` // ${JSON.parse(doc)}` : ""}`;
  });
  return [text.slice(0, text.indexOf("{") + 1), ...names, "};"].join("\n");
};

const headOf = ({ node, source }: ExportedDeclaration): string => {
  const isLong = ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node);
  const text = node.getText(source).replace(/^export (declare )?/, "");
  if (isLong) return text.slice(0, text.indexOf("{")).trim();
  return ts.isTypeAliasDeclaration(node) && /\btypeof /.test(text) && !node.typeParameters
    ? `type ${node.name.text} = ${spelledType(source.fileName, node.name.text)};`
    : shortened(node, text);
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

const pageOf = (entry: string, declarations: string): string => {
  const purpose = purposes[entry];
  if (purpose === undefined) throw new Error(`Nothing tells what ${entry} of the package is for`);
  const found = [...exportedDeclarations(declarations)].sort((a, b) =>
    a.name.localeCompare(b.name, "en"),
  );
  return `${[
    `# \`pulumi-conversation${entry.slice(1)}\``,
    `${purpose} Every name that can be imported from here, from its doc comment.`,
    ...found.map(section),
  ].join("\n\n")}\n`;
};

/**
 * A page for every entry point that the package has, by its path.
 *
 * @param root folder of the package, whose build is read
 */
export const apiReference = (root: string): Readonly<Record<string, string>> => {
  const text = readFileSync(join(root, "package.json"), "utf8");
  const { exports: entries } = manifestSchema.parse(JSON.parse(text));
  return Object.fromEntries(
    Object.entries(entries).flatMap(([entry, target]) =>
      typeof target === "string"
        ? []
        : [
            [
              `docs/api/${entry.slice(2).replaceAll("/", "-") || "index"}.md`,
              pageOf(entry, join(root, target.types)),
            ],
          ],
    ),
  );
};
