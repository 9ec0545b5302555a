import type { Definition, Fields } from "../../../provider/definition/define.js";
import { sameMeaning } from "../../../provider/definition/meaning.js";
import { isSurelyMask } from "../../../provider/definition/merge.js";
import { naturalKey } from "../../../provider/definition/references.js";
import { fieldsByWireName, fieldsFromWire, wireName } from "../../../provider/definition/wire.js";
import { isObject, type JsonObject, objectOf, sameJson } from "../../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../../provider/resources/index.js";
import type { WireObject } from "../../../provider/service/collections.js";
import type { Settings } from "../../../provider/service/setting-table.js";
import { publicMembers } from "../../account/object-inputs.js";
import { serverSet } from "../outcome/rehearsed-changes.js";

/** The objects of each kind, by id. */
export type ObjectsByKind = ReadonlyMap<string, ReadonlyMap<string, WireObject>>;

/** An object of the account that the program would not make, or would make without some members. */
export interface BeyondProgram {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** Members that the rebuilt object lacks, or has with another value; left out where all of it is missing. */
  readonly members?: readonly string[];
}

const nameOf = (definition: Definition, wire: WireObject): string =>
  String(nameOnWire(definition, wire) ?? "");

/** What each id stands for: ids differ between two accounts, names do not. */
const namesById = (objects: ObjectsByKind): ReadonlyMap<string, string> =>
  new Map(
    resources.flatMap((definition) =>
      [...(objects.get(definition.kind) ?? [])].map(
        ([id, wire]) => [id, `${definition.kind} ${nameOf(definition, wire)}`] as const,
      ),
    ),
  );

const withNames = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withNames(member, names)]),
  );
};

/** Whether a value can be compared: a mask stands for any. */
const isComparable = (value: unknown): boolean =>
  value !== null && !(typeof value === "string" && isSurelyMask(value));

/** What no field knows of an object: only names of it are shown. */
const unknownTo = (fields: Fields, wire: WireObject): JsonObject =>
  objectOf(
    Object.entries(wire).filter(
      ([name, value]) => isComparable(value) && !fieldsByWireName(fields).has(name),
    ),
  );

/** An object without what the service sets, without secrets, without marks, and with names for ids. */
const comparable = (
  { fields }: Definition,
  wire: WireObject,
  names: ReadonlyMap<string, string>,
): JsonObject => {
  const { description } = wire;
  const own = readMark(description).description;
  const named = withNames({ ...unknownTo(fields, wire), ...publicMembers(fields, wire) }, names);
  const members = isObject(named) ? named : {};
  return own === undefined || own === ""
    ? Object.fromEntries(Object.entries(members).filter(([name]) => name !== "description"))
    : { ...members, description: own };
};

/** Members of the account's object that the rebuilt one lacks, or has with another value. */
const membersBeyond = (
  definition: Definition,
  live: JsonObject,
  rebuilt: JsonObject,
  settings: Settings,
): readonly string[] => {
  const { fields } = definition;
  const [ours, theirs] = [rebuilt, live].map((wire) => fieldsFromWire(fields, wire, settings));
  const known = Object.entries(fields).flatMap(([name, field]) => {
    const value = theirs?.[name];
    const isSame = value === undefined || sameMeaning(field, value, ours?.[name]);
    return isSame ? [] : [name];
  });
  const wires = new Set(Object.entries(fields).map(([name, field]) => wireName(name, field)));
  const unknown = Object.keys(live).filter(
    (name) => !wires.has(name) && !serverSet.has(name) && !sameJson(live[name], rebuilt[name]),
  );
  return [...known, ...unknown];
};

/** The rebuilt objects by name; of several with one name each is used once. */
const byName = (definition: Definition, rebuilt: ReadonlyMap<string, WireObject>) =>
  Map.groupBy(rebuilt.values(), (wire) => nameOf(definition, wire));

/**
 * What an account holds beyond what the program makes: matched by kind and name, compared by meaning;
 * secrets are not compared.
 */
export const beyondProgram = (
  live: ObjectsByKind,
  rebuilt: ObjectsByKind,
  settings: Settings,
): readonly BeyondProgram[] => {
  const [liveNames, rebuiltNames] = [namesById(live), namesById(rebuilt)];
  return resources.flatMap((definition) => {
    const left = byName(definition, rebuilt.get(definition.kind) ?? new Map());
    return [...(live.get(definition.kind) ?? [])].flatMap(([id, wire]): BeyondProgram[] => {
      const name = nameOf(definition, wire);
      const twin = naturalKey(definition) === "" ? undefined : left.get(name)?.shift();
      if (!twin) return [{ kind: definition.kind, name, id }];
      const members = membersBeyond(
        definition,
        comparable(definition, wire, liveNames),
        comparable(definition, twin, rebuiltNames),
        settings,
      );
      return members.length > 0 ? [{ kind: definition.kind, name, id, members }] : [];
    });
  });
};
