import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { z } from "zod";

/** A text for a table cell: a bar would end the cell, a line break the row. */
export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");

/** Replaces each link by the name that it leads to. */
const withoutLinks = (text: string): string => text.replaceAll(/\{@link ([^}\s]+)\s*\}/g, "`$1`");

/** The text of a doc comment, without its tags. */
const commentOf = (node: ts.Node): string =>
  withoutLinks(
    ts
      .getJSDocCommentsAndTags(node)
      .map((doc) => (ts.isJSDoc(doc) ? (ts.getTextOfJSDocComment(doc.comment) ?? "") : ""))
      .join(" "),
  ).trim();

/** The texts of the tags of one name, such as `example`. */
const tagsOf = (node: ts.Node, tag: string): readonly string[] =>
  ts
    .getJSDocTags(node)
    .filter(({ tagName }) => tagName.text === tag)
    .map(({ comment }) => withoutLinks(ts.getTextOfJSDocComment(comment) ?? ""));

/** An export of an entry point of the package, with the place of its declaration. */
interface ExportedDeclaration {
  readonly name: string;
  readonly node: ts.Statement;
  readonly source: ts.SourceFile;
}

type Names = readonly (readonly [name: string, own: string])[];

/** The names that a statement declares. */
export const namesOf = (statement: ts.Statement): readonly string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    );
  const isNamed =
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
};

/** Whether a statement exports what it declares. */
export const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that a statement re-exports from another module; undefined if it takes all. */
const takenBy = ({ exportClause }: ts.ExportDeclaration): Names | undefined =>
  exportClause && ts.isNamedExports(exportClause)
    ? exportClause.elements.map(({ name, propertyName }) => [
        name.text,
        (propertyName ?? name).text,
      ])
    : undefined;

/**
 * Everything that a declaration file exports, in its own order, from anywhere in the package.
 * Exports of other packages are omitted.
 *
 * @param file a `.d.ts` of the build
 */
const exportedDeclarations = (file: string): readonly ExportedDeclaration[] => {
  const text = readFileSync(file, "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((node): readonly ExportedDeclaration[] => {
    if (!ts.isExportDeclaration(node))
      return isExported(node) ? namesOf(node).map((name) => ({ name, node, source })) : [];
    const from = node.moduleSpecifier;
    if (!from || !ts.isStringLiteral(from) || !from.text.startsWith(".")) return [];
    const all = exportedDeclarations(join(dirname(file), from.text.replace(/\.js$/, ".d.ts")));
    const taken = takenBy(node);
    if (!taken) return all;
    return taken.flatMap(([name, own]) =>
      all.filter((one) => one.name === own).map((one) => ({ ...one, name })),
    );
  });
};

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  types: [],
};

const format =
  ts.NodeBuilderFlags.NoTruncation |
  ts.NodeBuilderFlags.InTypeAlias |
  ts.NodeBuilderFlags.MultilineObjectLiterals;

/** Each program reuses what the one before it has read. */
const programs = new Map<string, ts.Program>();

const programOf = (file: string): ts.Program => {
  const known = programs.get(file);
  if (known) return known;
  const oldProgram = [...programs.values()].at(-1);
  const program = ts.createProgram({
    rootNames: [file],
    options,
    ...(oldProgram && { oldProgram }),
  });
  programs.set(file, program);
  return program;
};

/**
 * An optional member may also be undefined: saying so once is enough. Its type may end lines below
 * its name.
 */
const optionalUndefined = /(\?: .*|^ *\}.*) \| undefined;/gm;

/** A long list of words, one per line. */
const inLines = (count: number, text: string): string => {
  const words = text.split(" | ");
  return words.length === count ? ["", ...words].join("\n    | ") : text;
};

/**
 * A type as its user would write it out: one derived from a value (`z.input<typeof …>`, `keyof
 * typeof …`) is written member by member.
 *
 * @param file a `.d.ts` that declares it
 * @throws Error if the file does not declare it
 */
const spelledType = (file: string, name: string): string => {
  const program = programOf(file);
  const declared = program
    .getSourceFile(file)
    ?.statements.filter(ts.isTypeAliasDeclaration)
    .find((statement) => statement.name.text === name);
  if (!declared) throw new Error(`${file} declares no type ${name}`);
  const checker = program.getTypeChecker();
  const node = checker.typeToTypeNode(checker.getTypeAtLocation(declared.name), undefined, format);
  if (!node) throw new Error(`${file}: the type ${name} cannot be written out`);
  const text = ts
    .createPrinter()
    .printNode(ts.EmitHint.Unspecified, node, declared.getSourceFile());
  const plain = text.replaceAll(optionalUndefined, "$1;");
  return ts.isUnionTypeNode(node) && plain.length > 80 ? inLines(node.types.length, plain) : plain;
};

/** What each entry point of the package is for. */
const purposes: Readonly<Record<string, string>> = {
  ".": "What Pulumi programs import. [Resources](../resources.md) lists limits and sources for every field.",
  "./runtime": "The client for a deployed account.",
  "./pkce": "Customer sign-in, including in browsers.",
  "./emulator": "An emulator of the service on this machine.",
  "./testing": "Tests for programs and conversations.",
  "./policies": "Rules for stacks.",
  "./provider/v1": "The code that every resource's state refers to. Do not use it directly.",
};

const manifestSchema = z.object({
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string() })])),
});

const folded = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** Angle brackets would be taken for a tag. */
const prose = (text: string): string => folded(text).replaceAll("<", "&lt;");

const code = (text: string): string => `\`${folded(text)}\``;

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

/** An optional member may also be undefined: saying so once is enough. */
const orLeftOut = /(\?: [^;,()\n]*?) \| undefined(?=[;,)\n]|$)/g;

/** The source of a member, without words that mean nothing to its user. */
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

/** Explained interfaces that a declaration refers to, and that have no section: no module exports them. */
const hiddenInterfaces = (
  node: ts.Statement,
  source: ts.SourceFile,
): readonly ts.InterfaceDeclaration[] => {
  const words = new Set(node.getText(source).split(/\W+/));
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .filter((each) => each !== node && !isExported(each) && words.has(each.name.text))
    .filter(({ members }) => members.every((member) => commentOf(member) !== ""))
    .flatMap((each) => [...hiddenInterfaces(each, source), each]);
};

/** An item for each public member, by its name; a method with several signatures has several. */
const memberItems = ({ name, node, source }: ExportedDeclaration): readonly MemberItem[] => {
  if (ts.isTypeAliasDeclaration(node))
    return hiddenInterfaces(node, source).flatMap((each) =>
      memberItems({ name, node: each, source }),
    );
  if (!ts.isInterfaceDeclaration(node) && !ts.isClassDeclaration(node)) return [];
  return [...node.members].filter(isPublic).map((member) => ({
    name: member.name?.getText(source) ?? "",
    item: `- ${[code(shapeOf(member, source)), prose(meaningOf(member))].filter(Boolean).join(": ")}`,
  }));
};

interface MemberItem {
  readonly name: string;
  readonly item: string;
}

const meaningOf = (member: ts.Node): string =>
  [
    commentOf(member),
    ...parametersOf(member).map((one) => `${one.replace(/\.$/, "")}.`),
    ...tagsOf(member, "throws").map((one) => `Fails: ${one}`),
  ].join(" ");

/** A value with many members, shortened to their names. */
const shortened = (node: ts.Statement, text: string): string => {
  if (!ts.isVariableStatement(node) || text.split("\n").length < 40) return text;
  const type = node.declarationList.declarations[0]?.type;
  if (!type || !ts.isTypeLiteralNode(type)) return text;
  // The reference of the command line explains what its help explains.
  const isInHelp = commentOf(node).includes("--help");
  const docOf = (member: ts.TypeElement): string =>
    isInHelp
      ? ""
      : JSON.parse(/readonly doc: ("(?:[^"\\]|\\.)*");/.exec(member.getText())?.[1] ?? '""');
  // What members have in common is said once.
  const lines = [...Map.groupBy(type.members, docOf)].flatMap(([doc, members]) => [
    ...(doc ? [`    // ${doc}`] : []),
    ...members.map(({ name }) => `    ${name?.getText()}: …;`),
  ]);
  return [text.slice(0, text.indexOf("{") + 1), ...lines, "};"].join("\n");
};

const headOf = ({ node, source }: ExportedDeclaration): string => {
  const isLong = ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node);
  const text = node.getText(source).replace(/^export (declare )?/, "");
  if (isLong) return text.slice(0, text.indexOf("{")).trim();
  const head =
    ts.isTypeAliasDeclaration(node) &&
    /\btypeof |\[\w+ in .*\]\?:/.test(text) &&
    !node.typeParameters
      ? `type ${node.name.text} = ${spelledType(source.fileName, node.name.text)};`
      : shortened(node, text);
  return head.replaceAll(/\breadonly /g, "");
};

/** Not a table: the types are too long for one of its columns. */
const listOf = (members: readonly MemberItem[]): readonly string[] =>
  members.length > 0 ? [members.map(({ item }) => item).join("\n")] : [];

const examplesOf = (node: ts.Node): readonly string[] =>
  tagsOf(node, "example").map((one) => `\`\`\`typescript\n${one}\n\`\`\``);

/**
 * @param members in the place of a list of all members
 * @param examples in the place of those of its comment
 */
const section = (
  declared: ExportedDeclaration,
  members: readonly string[] = listOf(memberItems(declared)),
  examples: readonly string[] = examplesOf(declared.node),
): string => {
  const { name, node } = declared;
  const head = headOf(declared);
  const parameters = parametersOf(node).map((one) => `- ${one}`);
  return [
    `## \`${name}\``,
    commentOf(node),
    // The table of its members says that it is an interface.
    ...(/^interface \w+$/.test(head) && members.length > 0 ? [] : [`\`\`\`text\n${head}\n\`\`\``]),
    ...(parameters.length > 0 ? [parameters.join("\n")] : []),
    ...tagsOf(node, "throws").map((one) => `Fails: ${one}`),
    ...members,
    ...examples,
  ]
    .filter(Boolean)
    .join("\n\n");
};

/**
 * The sections for some exports of an entry point, in this order.
 *
 * @param declarations a `.d.ts` of the build
 * @throws Error if it lacks one of them
 */
export const exportedSections = (
  declarations: string,
  names: readonly string[],
): readonly string[] => {
  const all = exportedDeclarations(declarations);
  return names.map((name) => {
    const declared = all.find((each) => each.name === name);
    if (!declared) throw new Error(`${declarations} declares no ${name}`);
    return section(declared);
  });
};

/** Members that every resource class has, explained once. */
const ofEveryResource = ["__pulumiType", "isInstance", "created", "modified", "get"];

const isResource = ({ node }: ExportedDeclaration): boolean =>
  ts.isClassDeclaration(node) && / extends ConversationResource\b/.test(node.getText());

const link = (name: string): string => `[\`${name}\`](#${name.toLowerCase()})`;

/** How certain a field is stands on the page of the resources. */
const withoutSource = (text: string): string =>
  text.replaceAll(/ Source: (public reference|specification|assumed)\./g, "");

/**
 * A section without what another one says: outputs of a resource are its arguments with the values
 * of the service, and so are their parts.
 */
const sectionWithin = (
  declared: ExportedDeclaration,
  all: ReadonlyMap<string, ExportedDeclaration>,
): string => {
  const args = all.get(`${declared.name}Args`);
  const given = new Set((args ? memberItems(args) : []).map(({ name }) => name));
  const members = memberItems(declared);
  if (args && isResource(declared)) {
    const own = members.filter(({ name }) => !given.has(name) && !ofEveryResource.includes(name));
    const page = `../resources.md#${declared.name.toLowerCase()}`;
    const outputs = `Its outputs are the members of ${link(args.name)}, with their values in the service. [Example](${page})`;
    return section(declared, [outputs, ...listOf(own)], []);
  }
  const isPart = args && members.length > 0 && members.every(({ name }) => given.has(name));
  return isPart
    ? section(declared, [`The members of ${link(args.name)}, with their values in the service.`])
    : section(declared);
};

/** What every resource class has, from the first one. */
const everyResource = (found: readonly ExportedDeclaration[]): readonly string[] => {
  const first = found.find(isResource);
  if (!first) return [];
  const members = memberItems(first).filter(({ name }) => ofEveryResource.includes(name));
  return [
    `## Every resource class\n\nMembers of every resource class, shown for \`${first.name}\`:\n\n${listOf(members).join("")}`,
  ];
};

/** Names that another page explains, which can be imported from here as well. */
const alsoHere = (names: readonly (readonly [name: string, page: string])[]): readonly string[] =>
  [...Map.groupBy(names, ([, page]) => page)].map(([page, same]) => {
    const list = same.map(([name]) => `\`${name}\``).join(", ");
    const title = page.replace(/^.*\/|\.md$/g, "");
    return `Other exports, described in [${title}](${page}): ${list}.`;
  });

/** @param explained pages of names that need no second section */
const pageOf = (
  entry: string,
  declarations: string,
  explained: ReadonlyMap<string, string>,
): string => {
  const purpose = purposes[entry];
  if (purpose === undefined) throw new Error(`No purpose is defined for the entry point ${entry}`);
  const found = [...exportedDeclarations(declarations)].sort((a, b) =>
    a.name.localeCompare(b.name, "en"),
  );
  const own = found.filter(({ name }) => !explained.has(name));
  const elsewhere = found.flatMap(({ name }) => {
    const page = explained.get(name);
    return page === undefined ? [] : [[name, page] as const];
  });
  const all = new Map(found.map((declared) => [declared.name, declared]));
  return withoutSource(
    `${[
      `# \`pulumi-conversation${entry.slice(1)}\``,
      `${purpose} This page lists every name that you can import from here.`,
      ...alsoHere(elsewhere),
      ...everyResource(own),
      ...own.map((declared) => sectionWithin(declared, all)),
    ].join("\n\n")}\n`,
  );
};

/** Its names are all names of another entry point, too. */
const insideOthers = "./pkce";

/**
 * A page for every entry point that the package has, by its path. A name is explained on one page.
 *
 * @param root folder of the package, whose build is read
 * @param components names that the page of the resources explains
 */
export const apiReference = (
  root: string,
  components: readonly string[],
): Readonly<Record<string, string>> => {
  const text = readFileSync(join(root, "package.json"), "utf8");
  const { exports: entries } = manifestSchema.parse(JSON.parse(text));
  const explained = new Map(components.map((name) => [name, "../resources.md"]));
  const pages: Record<string, string> = {};
  const inOrder = Object.entries(entries).toSorted(
    ([a], [b]) => Number(b === insideOthers) - Number(a === insideOthers),
  );
  for (const [entry, target] of inOrder) {
    if (typeof target === "string") continue;
    const page = `${entry.slice(2).replaceAll("/", "-") || "index"}.md`;
    const declarations = join(root, target.types);
    pages[`docs/api/${page}`] = pageOf(entry, declarations, explained);
    for (const { name } of exportedDeclarations(declarations))
      if (!explained.has(name)) explained.set(name, page);
  }
  return pages;
};
