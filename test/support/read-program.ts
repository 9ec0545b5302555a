import ts from "typescript";
import { undisclosed } from "../../provider/kernel/pulumi.js";

type Json = Readonly<Record<string, unknown>>;

/** A resource that the source of a program declares or looks up. */
export interface ReadResource {
  readonly kind: string;
  readonly name: string;
  /** Of one that is looked up. */
  readonly id?: string;
  /** Values as the program would hand them over: a variable is `{ kind, name }`, a secret undisclosed. */
  readonly args: Json;
}

type Scope = Map<string, ReadResource>;

const key = (name: ts.PropertyName): string => {
  if (ts.isIdentifier(name) || ts.isStringLiteral(name)) return name.text;
  if (ts.isComputedPropertyName(name) && ts.isStringLiteral(name.expression))
    return name.expression.text;
  throw new Error(`a key of another sort: ${name.getText()}`);
};

const member = (property: ts.ObjectLiteralElementLike, scope: Scope): [string, unknown] => {
  if (!ts.isPropertyAssignment(property)) throw new Error(`no member: ${property.getText()}`);
  // Without brackets this would be no member, but the prototype.
  const name = key(property.name);
  if (name === "__proto__" && !ts.isComputedPropertyName(property.name))
    throw new Error("sets a prototype");
  return [name, readValue(property.initializer, scope)];
};

/** Throws for everything but plain values, variables of resources and secrets of the configuration. */
const readValue = (node: ts.Expression, scope: Scope): unknown => {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken)
    return -Number(readValue(node.operand, scope));
  if (ts.isArrayLiteralExpression(node)) return node.elements.map((item) => readValue(item, scope));
  if (ts.isObjectLiteralExpression(node))
    return Object.fromEntries(node.properties.map((property) => member(property, scope)));
  if (ts.isPropertyAccessExpression(node) && node.expression.getText() === "secrets")
    return undisclosed;
  const found = ts.isIdentifier(node) ? scope.get(node.text) : undefined;
  if (found) return found;
  throw new Error(`no plain value: ${node.getText()}`);
};

const textOf = (node: ts.Expression | undefined): string => {
  if (node && ts.isStringLiteral(node)) return node.text;
  throw new Error(`no text: ${node?.getText()}`);
};

const resourceOf = (node: ts.Expression, scope: Scope): ReadResource => {
  const [name, second] = "arguments" in node && Array.isArray(node.arguments) ? node.arguments : [];
  if (ts.isNewExpression(node)) {
    const args = readValue(second, scope);
    return { kind: node.expression.getText(), name: textOf(name), args: Object(args) };
  }
  const isGet =
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "get";
  if (!isGet) throw new Error(`no resource: ${node.getText()}`);
  const kind = node.expression.expression.getText();
  return { kind, name: textOf(name), id: textOf(second), args: {} };
};

const isSettings = (name: string): boolean => name === "config" || name === "secrets";

const readStatement = (statement: ts.Statement, scope: Scope): readonly ReadResource[] => {
  if (ts.isImportDeclaration(statement)) return [];
  if (ts.isExpressionStatement(statement)) return [resourceOf(statement.expression, scope)];
  if (!ts.isVariableStatement(statement)) throw new Error(`no resource: ${statement.getText()}`);
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    if (isSettings(name.getText())) return [];
    if (!initializer || scope.has(name.getText())) throw new Error(`twice: ${name.getText()}`);
    const resource = resourceOf(initializer, scope);
    scope.set(name.getText(), resource);
    return [resource];
  });
};

/**
 * What a generated program declares, read from its syntax without running it.
 *
 * @throws Error for a statement or a value that no export writes
 */
export const readProgram = (text: string): readonly ReadResource[] => {
  const scope: Scope = new Map();
  const source = ts.createSourceFile("index.ts", text, ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement) => readStatement(statement, scope));
};
