import { AssertionError } from "node:assert";
import type { StoredObject } from "../../../emulator/index.js";
import type { Definition } from "../../../provider/definition/define.js";
import { naturalKey, withArticle } from "../../../provider/definition/references.js";
import { valuesIn } from "../../../provider/definition/walk.js";
import { type Difference, differenceLine, differences, shown } from "./differences.js";

/** The texts of an object that must not be shown. */
const secretsOf = ({ fields }: Definition, object: StoredObject): readonly string[] =>
  valuesIn(fields, object).flatMap(({ field, value }) =>
    field.secret && typeof value === "string" && value !== "" ? [value] : [],
  );

const withoutSecrets =
  (secrets: readonly string[]) =>
  (value: unknown): string =>
    secrets.reduce((text, secret) => text.replaceAll(secret, "[secret]"), shown(value));

const titleOf = (definition: Definition, object: StoredObject): string =>
  JSON.stringify(object[naturalKey(definition)] ?? object.id);

const listed = (definition: Definition, objects: readonly StoredObject[]): string => {
  if (objects.length === 0) return `There is no ${definition.noun} at all.`;
  const names = objects.map((object) => titleOf(definition, object));
  return `There ${objects.length === 1 ? "is" : "are"} ${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}.`;
};

interface Compared {
  readonly object: StoredObject;
  readonly found: readonly Difference[];
}

const nearest = (compared: readonly Compared[]): Compared | undefined =>
  compared.reduce<Compared | undefined>(
    (best, each) => (best && best.found.length <= each.found.length ? best : each),
    undefined,
  );

const notThere = (
  definition: Definition,
  expected: object,
  compared: readonly Compared[],
): AssertionError => {
  const { noun } = definition;
  const near = nearest(compared);
  const lines = near
    ? [
        `The nearest is ${titleOf(definition, near.object)}:`,
        ...near.found.map(
          (difference) =>
            `  ${differenceLine(difference, withoutSecrets(secretsOf(definition, near.object)))}`,
        ),
      ]
    : [];
  const all = listed(
    definition,
    compared.map(({ object }) => object),
  );
  return new AssertionError({
    message: [`The account has no ${noun} like ${shown(expected)}.`, ...lines, all].join("\n"),
    operator: "expectObject",
  });
};

/**
 * The first object that is as expected.
 *
 * @throws AssertionError with the nearest object and how it differs
 */
export const objectLike = (
  definition: Definition,
  objects: readonly StoredObject[],
  expected: object,
): StoredObject => {
  const compared = objects.map((object) => ({ object, found: differences(expected, object) }));
  const fitting = compared.find(({ found }) => found.length === 0);
  if (fitting) return fitting.object;
  throw notThere(definition, expected, compared);
};

/** @throws AssertionError naming the objects that are as they must not be */
export const assertNoObjectLike = (
  definition: Definition,
  objects: readonly StoredObject[],
  expected: object,
): void => {
  const fitting = objects.filter((object) => differences(expected, object).length === 0);
  if (fitting.length === 0) return;
  const names = fitting.map((object) => titleOf(definition, object)).join(", ");
  throw new AssertionError({
    message: `The account must not have ${withArticle(definition.noun)} like ${shown(expected)}, but it has ${names}.`,
    operator: "expectNoObject",
  });
};
