import { join } from "node:path";
import fc from "fast-check";
import ts from "typescript";
import { expect, test } from "vitest";
import { CommandFailure } from "../../../cli/command.js";
import {
  type ProgramSource,
  programSource,
  projectReadme,
} from "../../../cli/export/program-files.js";
import {
  type ProgramPlan,
  planProgram,
  resourceNames,
  wordsIn,
} from "../../../cli/export/program-plan.js";
import { quotedText } from "../../../cli/export/source-text.js";
import { importFileText } from "../../../cli/import/import-entries.js";
import { objectInputs } from "../../../cli/inventory/object-inputs.js";
import { isObject, type JsonObject as Json } from "../../../provider/kernel/json.js";
import { undisclosed } from "../../../provider/kernel/pulumi.js";
import { lifecycle } from "../../../provider/lifecycle/index.js";
import { createRun } from "../../../provider/lifecycle/run.js";
import { resources } from "../../../provider/resources/index.js";
import { kindOf } from "../../emulator/running.js";
import { hubSettings } from "../../rehearse/hub-environment.js";
import { listed } from "../../support/forms.js";
import { oddCanary } from "../../support/odd-account.js";
import {
  type RandomAccount,
  randomAccount,
  randomSelection,
} from "../../support/random-account.js";
import { virtualProgram } from "../../support/virtual-program.js";

/** A resource that the source of a program declares or looks up. */
interface ReadResource {
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

const readStatement = (statement: ts.Statement, scope: Scope): readonly ReadResource[] => {
  if (ts.isImportDeclaration(statement)) return [];
  if (ts.isExpressionStatement(statement)) return [resourceOf(statement.expression, scope)];
  if (!ts.isVariableStatement(statement)) throw new Error(`no resource: ${statement.getText()}`);
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    if (["config", "secrets"].includes(name.getText())) return [];
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
const readProgram = (text: string): readonly ReadResource[] => {
  const scope: Scope = new Map();
  const source = ts.createSourceFile("index.ts", text, ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement) => readStatement(statement, scope));
};

const settings = hubSettings({ CONVERSATION_PLATFORM_NAME: "acme" });

const inputsOf = (account: RandomAccount) =>
  listed(account).map(({ definition, id, wire }) =>
    objectInputs(definition, id, { ...wire }, settings),
  );

const names = { project: "taken", stack: "prod" };
const ownership = "taken/prod/0123456789abcdef";

interface Exported {
  readonly plan: ProgramPlan;
  readonly source: ProgramSource;
  readonly entries: readonly Json[];
  readonly pages: string;
}

type Selection = Parameters<typeof planProgram>[1];

/** Undefined where the words mean nothing in the account. */
const exported = (account: RandomAccount, selection: Selection): Exported | undefined => {
  try {
    const plan = planProgram(inputsOf(account), selection);
    const source = programSource(plan);
    const file = importFileText(plan.declared, { ownership }, names);
    const { secrets } = source;
    const page = projectReadme(names, plan, secrets);
    return { plan, source, entries: JSON.parse(file).resources, pages: page + file };
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
};

/** An entry's values as the engine gives them to the provider. */
const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened);
  if (!isObject(value)) return value;
  if (typeof value.plaintext === "string") return JSON.parse(value.plaintext);
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, opened(of)]));
};

const offlineRun = () =>
  createRun(
    async () => {
      throw new Error("a preview makes no call");
    },
    { settings: () => settings },
  );

/** What a preview after the import says of one resource. */
const changeOf = async (
  { kind, name, args }: ReadResource,
  entry: Json,
  idOf: (resource: ReadResource) => string,
  run: ReturnType<typeof offlineRun>,
): Promise<unknown> => {
  const given = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(given);
    if (!isObject(value)) return value;
    if (isObject(value.args) && typeof value.kind === "string") {
      const id = typeof value.id === "string" ? { id: value.id } : {};
      return idOf({ kind: value.kind, name: String(value.name), args: {}, ...id });
    }
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, given(of)]));
  };
  const pointer = { __provider: "pointer" };
  const news = { ...Object(given(args)), owner: `${ownership}/${name}`, ...pointer };
  const { check, diff } = lifecycle(kindOf(kind), run);
  const olds = Object(opened(entry.inputs));
  const { failures, inputs } = await check(olds, news);
  if (failures.length > 0) return failures;
  return diff(String(entry.id), Object(opened(entry.outputs)), { ...inputs, ...pointer });
};

const resourceKey = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name}`;

const runs = Number(process.env.EXPORT_RUNS ?? 60);

test("whatever is chosen of whatever account: program and import file fit, and nothing changes", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(randomAccount, randomSelection, async (account, selection) => {
      const made = exported(account, selection);
      if (!made) return;
      const { plan, source, entries, pages } = made;
      expect(source.text + pages).not.toContain(oddCanary);
      const read = readProgram(source.text);
      const declared = read.filter(({ id }) => id === undefined);
      const [first, ...objects] = entries;
      expect(declared.length === 0 ? first : first?.name).toBe(
        declared.length === 0 ? undefined : "ownership",
      );
      const byName = new Map(
        objects.map((entry) => [`${String(entry.type).split(":").at(-1)} ${entry.name}`, entry]),
      );
      expect(declared.map(resourceKey).toSorted()).toEqual([...byName.keys()].toSorted());
      const lookedUp = plan.lookedUp.map(({ object }) => object.id);
      expect(read.flatMap(({ id }) => id ?? []).toSorted()).toEqual(lookedUp.toSorted());
      const idOf = (resource: ReadResource) =>
        resource.id ?? String(byName.get(resourceKey(resource))?.id);
      for (const { object } of plan.declared) expect(source.text).not.toContain(`"${object.id}"`);
      const run = offlineRun();
      count += declared.length;
      for (const resource of declared) {
        const key = resourceKey(resource);
        const change = await changeOf(resource, byName.get(key) ?? {}, idOf, run);
        expect({ key, change }).toEqual({ key, change: { changes: false } });
      }
    }),
    { numRuns: runs },
  );
  expect(count).toBeGreaterThan(runs);
});

test("every such program compiles", () => {
  const cases = fc.sample(fc.tuple(randomAccount, randomSelection), { numRuns: 40, seed: 7 });
  const files = new Map(
    cases.flatMap(([account, selection], at) => {
      const made = exported(account, selection);
      const file = join(__dirname, `case-${at}`, "index.ts");
      return made ? [[file, made.source.text] as const] : [];
    }),
  );
  expect(files.size).toBeGreaterThan(20);
  const program = virtualProgram(files);
  const errors = [...files.keys()].flatMap((file) =>
    [
      ...program.getSyntacticDiagnostics(program.getSourceFile(file)),
      ...program.getSemanticDiagnostics(program.getSourceFile(file)),
    ].map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`),
  );
  expect(errors).toEqual([]);
});

const account = fc
  .array(
    fc.record({
      kind: fc.nat({ max: resources.length - 1 }),
      name: fc.oneof(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ unit: "grapheme", maxLength: 20 }),
        fc.constantFrom(
          "orders",
          "Orders",
          "orders bot",
          "class",
          "await",
          "7",
          "Secrets",
          "",
          "__proto__",
          "NaN",
        ),
      ),
      day: fc.nat({ max: 3 }),
    }),
    { maxLength: 30 },
  )
  .map((list) =>
    list.flatMap(({ kind, name, day }, place) => {
      const definition = resources[kind];
      if (!definition) return [];
      const id = `${place}`.padStart(36, "0");
      const created = `2024-01-0${day + 1}T00:00:00.000Z`;
      return [objectInputs(definition, id, { id, name, type: name, created }, settings)];
    }),
  );

test("names are valid, one for each object, whatever the objects are called", () => {
  fc.assert(
    fc.property(account, (objects) => {
      const names = [...resourceNames(objects).entries()];
      const variables = names.map(([, { variable }]) => variable);
      expect(new Set(variables).size).toBe(objects.length);
      expect(
        new Set(names.map(([{ definition }, { logical }]) => `${definition.kind} ${logical}`)).size,
      ).toBe(objects.length);
      for (const [, { variable, logical }] of names) {
        // A module is strict code, where fewer words are names.
        expect(
          () => new Function(`"use strict"; async () => { const ${variable} = 1; }`),
        ).not.toThrow();
        for (const character of variable)
          expect(ts.isIdentifierPart(character.codePointAt(0) ?? 0, ts.ScriptTarget.Latest)).toBe(
            true,
          );
        expect(logical).toMatch(/^[^\s:/]{1,80}$/u);
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
  );
});

test("names do not depend on the order in which the service lists", () => {
  fc.assert(
    fc.property(account, fc.nat(), (objects, turn) => {
      const at = objects.length === 0 ? 0 : turn % objects.length;
      const turned = [...objects.slice(at), ...objects.slice(0, at)].toReversed();
      const [one, other] = [resourceNames(objects), resourceNames(turned)];
      for (const object of objects) expect(other.get(object)).toEqual(one.get(object));
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["orders-bot", ["orders", "bot"]],
  ["ordersBot", ["orders", "Bot"]],
  ["Größe & Maß", ["Große", "Maß"]],
  ["订单 机器人", ["订单", "机器人"]],
  ["عربة", []],
  ["  ", []],
])("the words of %j", (text, words) => {
  expect(wordsIn(text)).toEqual(words);
});

test("what cannot be seen is written as an escape", () => {
  const text = 'a\u202eb\u200b"\u2028\u0007\ud800';
  const quoted = quotedText(text);
  expect(quoted).toMatch(/^[\x20-\x7e]*$/);
  expect(new Function(`return ${quoted}`)()).toBe(text);
});
