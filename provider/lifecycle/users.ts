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

/** An object that refers to another one. */
export interface User {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  readonly mark?: Mark;
}

const whose = (mark: Mark | undefined, own: Mark | undefined): string => {
  if (!mark) return "not managed by Pulumi";
  return mark.stack === own?.stack
    ? `of this stack: ${mark.label}`
    : `of another stack: ${mark.label}`;
};

/** `account "kiosk" (id …, of this stack: shop/prod kiosk)` */
export const describeUser = ({ definition, id, name, mark }: User, own: Mark | undefined): string =>
  `${definition.noun} ${JSON.stringify(name)} (id ${id}, ${whose(mark, own)})`;

const listed = async (definition: Definition, { service }: Session) => {
  try {
    const { objects } = await service.list(definition, { fresh: true });
    return [...objects].map(([id, wire]) => ({ definition, id, wire }));
  } catch (error) {
    // A refusal is to be explained as far as can be; the lists are only for that.
    if (isConversationError(error)) return [];
    throw error;
  }
};

/** Who refers to an object, as far as the lists can be had. */
export const usersOf = async (
  target: Definition,
  targetId: string,
  session: Session,
  resources: readonly Definition[],
): Promise<readonly User[]> => {
  const kinds = [...new Set(referencesTo(target, resources).map(({ from }) => from))];
  const candidates = await Promise.all(kinds.map((kind) => listed(kind, session)));
  return candidates
    .flat()
    .filter(({ definition, wire }) =>
      referencesIn(
        definition.fields,
        fieldsFromWire(definition.fields, wire, session.settings),
      ).some(({ to, id }) => to.kind === target.kind && id === targetId),
    )
    .map(({ definition, id, wire }) => {
      const mark = markOn(wire);
      return { definition, id, name: nameOnWire(definition, wire), ...(mark ? { mark } : {}) };
    });
};
