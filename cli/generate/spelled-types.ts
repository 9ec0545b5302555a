import ts from "typescript";

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

/** Each takes over what the one before it has read. */
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

/** What may be left out may be undefined as well: once is enough. Its type may end lines below its name. */
const orLeftOut = /(\?: .*|^ *\}.*) \| undefined;/gm;

/** A long list of words, one in each line. */
const inLines = (count: number, text: string): string => {
  const words = text.split(" | ");
  return words.length === count ? ["", ...words].join("\n    | ") : text;
};

/**
 * A type as its user would write it out: what is made from a value (`z.input<typeof …>`, `keyof typeof …`)
 * member by member.
 *
 * @param file a `.d.ts` that declares it
 * @throws Error where it does not
 */
export const spelledType = (file: string, name: string): string => {
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
  const plain = text.replaceAll(orLeftOut, "$1;");
  return ts.isUnionTypeNode(node) && plain.length > 80 ? inLines(node.types.length, plain) : plain;
};
