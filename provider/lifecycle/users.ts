import type { Definition } from "../definition/define.js";
import type { Field, Fields } from "../definition/field.js";
import { isObject, type JsonObject } from "../definition/json.js";
import { referencesTo } from "../definition/references.js";
import { fieldsFromWire } from "../definition/wire.js";
import { isConversationError } from "../service/errors.js";
import { markOn, nameOnWire } from "./context.js";
import type { Mark } from "./mark.js";
import type { Session } from "./run.js";

const inside = (field: Field, value: unknown): readonly { to: Definition; id: unknown }[] => {
  switch (field.type) {
    case "reference":
      return [{ to: field.to, id: value }];
    case "object":
      return isObject(value) ? referencesIn(field.fields, value) : [];
    case "list":
      return Array.isArray(value) ? value.flatMap((item) => inside(field.of, item)) : [];
    case "map":
      return isObject(value) ? Object.values(value).flatMap((of) => inside(field.of, of)) : [];
    default:
      return [];
  }
};

const referencesIn = (fields: Fields, values: JsonObject) =>
  Object.entries(fields).flatMap(([name, field]) => inside(field, values[name]));

const whose = (mark: Mark | undefined, own: Mark | undefined): string => {
  if (!mark) return "not managed by Pulumi";
  return mark.stack === own?.stack
    ? `of this stack: ${mark.label}`
    : `of another stack: ${mark.label}`;
};

/** Who refers to an object, each with kind, name, id and whose it is. */
export const usersOf = async (
  target: Definition,
  id: string,
  own: Mark | undefined,
  { service, settings }: Session,
  resources: readonly Definition[],
): Promise<readonly string[]> => {
  const kinds = new Set(referencesTo(target, resources).map(({ from }) => from));
  const lists = await Promise.all(
    [...kinds].map(async (kind) => {
      try {
        const { objects } = await service.list(kind, { fresh: true });
        return [...objects].map(([userId, wire]) => ({ kind, userId, wire }));
      } catch (error) {
        if (isConversationError(error)) return [];
        throw error;
      }
    }),
  );
  return lists
    .flat()
    .filter(({ kind, wire }) =>
      referencesIn(kind.fields, fieldsFromWire(kind.fields, wire, settings)).some(
        (reference) => reference.to.kind === target.kind && reference.id === id,
      ),
    )
    .map(
      ({ kind, userId, wire }) =>
        `${kind.noun} ${JSON.stringify(nameOnWire(kind, wire))} (id ${userId}, ${whose(markOn(wire), own)})`,
    );
};
