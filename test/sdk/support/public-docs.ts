import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { virtualProgram } from "../../support/virtual-program.js";

const root = join(__dirname, "..", "..", "..");
const entries = [
  "sdk/index.ts",
  "sdk/runtime/index.ts",
  "sdk/policies/index.ts",
  "sdk/testing/index.ts",
];
const context = "test/sdk/support/example-context.ts";
const checkedFile = join(root, "test/sdk/support/all-examples.ts");

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");

/** One `@example` of a doc comment. */
interface Example {
  readonly file: string;
  readonly line: number;
  readonly code: string;
}

const examplesIn = (file: string): readonly Example[] => {
  const text = textOf(file);
  return [...text.matchAll(/\/\*\*(.*?)\*\//gs)].flatMap(({ 1: comment = "", index }) => {
    const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
    const before = text.slice(0, index).split("\n").length;
    return lines.flatMap((line, at) => {
      if (line.trim() !== "@example") return [];
      const rest = lines.slice(at + 1);
      const end = rest.findIndex((next) => /^@\w/.test(next));
      const code = (end < 0 ? rest : rest.slice(0, end)).join("\n").trim();
      return [{ file, line: before + at, code }];
    });
  });
};

/** Every example in the doc comments of what the package exports. */
export const examples: readonly Example[] = ["sdk", "provider/kernel", "provider/pacing"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
      join(folder, file),
    ),
  )
  .filter((file) => file.endsWith(".ts"))
  .flatMap(examplesIn);

/** Names that a module exports, by its text: they are needed before anything is checked. */
const exportedNames = (file: string): readonly string[] => {
  const source = ts.createSourceFile(file, textOf(file), ts.ScriptTarget.ES2022);
  return source.statements.flatMap((statement): readonly string[] => {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (exportClause && ts.isNamedExports(exportClause)) {
        return exportClause.elements.map(({ name }) => name.text);
      }
      if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier)) return [];
      return exportedNames(join(dirname(file), moduleSpecifier.text.replace(/js$/, "ts")));
    }
    const isExported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (!isExported) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => name.getText(source));
    }
    const isNamed = ts.isClassDeclaration(statement) || ts.isInterfaceDeclaration(statement);
    const { name } = isNamed || ts.isTypeAliasDeclaration(statement) ? statement : {};
    return name ? [name.text] : [];
  });
};

const importOf = (file: string): string => {
  const from = relative(dirname(checkedFile), join(root, file)).replace(/ts$/, "js");
  return `import { ${exportedNames(file).join(", ")} } from "./${from}";`;
};

const head = [
  'import * as pulumi from "@pulumi/pulumi";',
  'import { PolicyPack } from "@pulumi/policy";',
  'import { createServer } from "node:http";',
  ...[...entries, context].map(importOf),
];

/** Each example is a function of its own, with all that the package exports and the context. */
const functionOf = ({ code }: Example, at: number): string =>
  `export const example${at} = async () => {\n${code.replace(/^export /gm, "")}\n};`;

const examplesText = [...head, ...examples.map(functionOf)].join("\n");

let program: ts.Program | undefined;
const theProgram = (): ts.Program => {
  program ??= virtualProgram(
    new Map([[checkedFile, examplesText]]),
    entries.map((file) => join(root, file)),
  );
  return program;
};

/** What the compiler has against the examples, each with its place. */
export const exampleErrors = (): readonly string[] => {
  const source = theProgram().getSourceFile(checkedFile);
  const found = [
    ...theProgram().getSyntacticDiagnostics(source),
    ...theProgram().getSemanticDiagnostics(source),
  ];
  return found.map(({ start = 0, messageText }) => {
    const at = [...examplesText.slice(0, start).matchAll(/^export const example/gm)].length - 1;
    const { file, line } = examples[at] ?? { file: "the imports", line: 0 };
    return `${file}:${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
};
