import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** What an entry point of the package exports, with the place of its declaration. */
export interface ExportedDeclaration {
  readonly name: string;
  readonly node: ts.Statement;
  readonly source: ts.SourceFile;
}

type Names = readonly (readonly [name: string, own: string])[];

const namesOf = (statement: ts.Statement): readonly string[] => {
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

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that a statement takes from another module; undefined where it takes all. */
const takenBy = ({ exportClause }: ts.ExportDeclaration): Names | undefined =>
  exportClause && ts.isNamedExports(exportClause)
    ? exportClause.elements.map(({ name, propertyName }) => [
        name.text,
        (propertyName ?? name).text,
      ])
    : undefined;

/**
 * Everything that a declaration file exports, in its own order, wherever in the package it is declared.
 * What comes from another package is left out.
 *
 * @param file a `.d.ts` of the build
 */
export const exportedDeclarations = (file: string): readonly ExportedDeclaration[] => {
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
