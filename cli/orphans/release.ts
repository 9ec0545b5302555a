import type { Definition } from "../../provider/definition/define.js";
import type { Field, Fields } from "../../provider/definition/field.js";
import { isObject, type JsonObject, objectOf } from "../../provider/definition/json.js";
import { type Dialect, fieldsFromWire } from "../../provider/definition/wire.js";
import { readMark } from "../../provider/lifecycle/mark.js";
import type { Orphan } from "../../provider/lifecycle/orphans.js";
import type { Session } from "../../provider/lifecycle/run.js";
import type { WireObject } from "../../provider/service/collections.js";
import { messageOf } from "../failure.js";

const isMasked = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && /^[*•]*$/.test(value));

const hiddenIn = (field: Field, value: unknown, path: string): readonly string[] => {
  if (field.secret) return isMasked(value) && (field.required || value !== undefined) ? [path] : [];
  if (field.type === "object" && isObject(value))
    return hiddenAmong(field.fields, value, `${path}.`);
  if (field.type === "list" && Array.isArray(value))
    return value.flatMap((item, at) => hiddenIn(field.of, item, `${path}[${at}]`));
  if (field.type === "map" && isObject(value))
    return Object.entries(value).flatMap(([key, of]) => hiddenIn(field.of, of, `${path}.${key}`));
  return [];
};

const hiddenAmong = (fields: Fields, values: JsonObject, start = ""): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    hiddenIn(field, values[name], `${start}${name}`),
  );

/** The body of the PUT that takes a mark off, and what it would erase as the service hides it. */
export interface Unmarked {
  readonly body: JsonObject;
  /** Paths such as `basicAuth.password`. */
  readonly hidden: readonly string[];
}

/** A live object without its mark, everything else as it is. */
export const withoutMark = (
  definition: Definition,
  live: WireObject,
  dialect: Dialect,
): Unmarked => {
  const { id: _, created: __, modified: ___, ...rest } = live;
  const { description } = readMark(live.description);
  return {
    body: objectOf(Object.entries({ ...rest, description })),
    hidden: hiddenAmong(definition.fields, fieldsFromWire(definition.fields, live, dialect)),
  };
};

/** Takes the mark off an object. @returns why it is still there; undefined: it is gone */
export const releaseOrphan = async (
  { definition, id, mark }: Orphan,
  { service, settings }: Session,
): Promise<string | undefined> => {
  try {
    const live = await service.read(definition, id);
    if (!live) return "it is gone";
    const there = readMark(live.description).mark;
    if (!there) return undefined;
    if (there.stack !== mark.stack || there.resource !== mark.resource)
      return `somebody has marked it anew since: ${there.label}`;
    const { body, hidden } = withoutMark(definition, live, settings);
    if (hidden.length > 0)
      return (
        `the service hides ${hidden.join(", ")}, which a change would erase. Take the mark off the end of its ` +
        "description where it can be edited without that, or delete it: orphans --delete --id"
      );
    await service.replace(definition, id, body);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};
