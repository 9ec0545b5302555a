import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { cell, commentOf, tagsOf } from "./doc-comments.js";

/** A class whose arguments and outputs are documented by the comments in its file. */
export interface ComponentSource {
  readonly name: string;
  /** From the root of the package. */
  readonly file: string;
  /** Interfaces of the same file that its arguments are made of, the arguments themselves first. */
  readonly interfaces: readonly string[];
  /** A page that says more, from `docs/`. */
  readonly more?: string;
}

/** What is no object of the service, but is declared like one. */
export const componentSources: readonly ComponentSource[] = [
  {
    name: "ConversationAccount",
    file: "sdk/conversation-account.ts",
    interfaces: ["ConversationAccountArgs", "PartyArgs", "BotArgs"],
  },
  {
    name: "ConversationSmokeTest",
    file: "sdk/conversation-smoke-test.ts",
    interfaces: ["ConversationSmokeTestArgs", "SmokeTestProbeArgs"],
    more: "smoke-test.md",
  },
];

/** The type as a program writes it, without what every argument may be. */
const typeOf = (type: ts.TypeNode | undefined, source: ts.SourceFile): string =>
  (type?.getText(source) ?? "")
    .replace(/(?<!\s)\s*\|\s*undefined/g, "")
    .replace(/pulumi\.(Input|Output)<(.*)>$/, "$2")
    .replaceAll("pulumi.", "");

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), `|${"---|".repeat(head.length)}`, ...rows.map(row)].join("\n");

const inheritedFrom = (declaration: ts.InterfaceDeclaration, source: ts.SourceFile): string => {
  const types = (declaration.heritageClauses ?? []).flatMap(({ types: all }) => [...all]);
  const named = types.map((type) => `\`${type.getText(source)}\``);
  return named.length > 0 ? `Also takes what ${named.join(" and ")} takes.` : "";
};

const interfaceSection = (
  declaration: ts.InterfaceDeclaration,
  source: ts.SourceFile,
): readonly string[] => {
  const rows = declaration.members
    .filter(ts.isPropertySignature)
    .map((member) => [
      `\`${member.name.getText(source)}\``,
      `\`${typeOf(member.type, source)}\``,
      member.questionToken ? "" : "yes",
      commentOf(member),
    ]);
  const title = `\`${declaration.name.text}\`: ${commentOf(declaration)}`;
  const inherited = inheritedFrom(declaration, source);
  return [
    [title, inherited].filter(Boolean).join(" "),
    ...(rows.length > 0 ? [table(["Argument", "Type", "Required", "Meaning"], rows)] : []),
  ];
};

/** Public members that a program reads. */
const outputRows = (declaration: ts.ClassDeclaration, source: ts.SourceFile) =>
  declaration.members
    .filter(ts.isPropertyDeclaration)
    .filter(
      ({ modifiers = [] }) =>
        ![...modifiers].some(({ kind }) =>
          [ts.SyntaxKind.StaticKeyword, ts.SyntaxKind.PrivateKeyword].includes(kind),
        ),
    )
    .map((member) => [
      `*output* \`${member.name.getText(source)}\``,
      `\`${typeOf(member.type, source)}\``,
      commentOf(member),
    ]);

/**
 * The section of a component in the reference, from the doc comments of its source.
 *
 * @param root folder of the package
 * @throws Error where the source lacks one of the declarations
 */
export const componentSection = (root: string, component: ComponentSource): string => {
  const { name, file, interfaces, more } = component;
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found = <T extends ts.Statement & { readonly name?: ts.Identifier }>(
    is: (node: ts.Node) => node is T,
    wanted: string,
  ): T => {
    const statement = source.statements.find((one) => is(one) && one.name?.text === wanted);
    if (statement && is(statement)) return statement;
    throw new Error(`${file} declares no ${wanted}`);
  };
  const declaration = found(ts.isClassDeclaration, name);
  return [
    `## ${name}`,
    commentOf(declaration),
    ...(more ? [`More: [${more}](${more}).`] : []),
    `\`\`\`typescript\n${tagsOf(declaration, "example").join("\n")}\n\`\`\``,
    ...interfaces.flatMap((one) => interfaceSection(found(ts.isInterfaceDeclaration, one), source)),
    table(["Output", "Type", "Meaning"], outputRows(declaration, source)),
  ].join("\n\n");
};
