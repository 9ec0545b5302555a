import { z } from "zod";
import { typedFields } from "../../provider/definition/changes.js";
import type {
  Definition,
  Field,
  Fields,
  ListField,
  MapField,
} from "../../provider/definition/define.js";
import { fieldsByWireName, membersOf, normaliseFields } from "../../provider/definition/fields.js";
import { tidyFields } from "../../provider/definition/importable.js";
import { isAdded, unknownMembers } from "../../provider/definition/unknown-members.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import {
  filledText,
  isObject,
  type JsonObject,
  jsonIn,
  objectOf,
} from "../../provider/kernel/json.js";
import { isId } from "../../provider/kernel/object-id.js";
import { type Mark, readMark } from "../../provider/lifecycle/ownership/mark.js";
import { originalMark } from "../../provider/lifecycle/seen.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";
import type { AccountReading } from "./read-account.js";

/** An object of the account as a program would declare it. */
export interface ObjectInputs {
  readonly definition: Definition;
  readonly id: string;
  /**
   * The fields in a program's terms and in their normal form: references as IDs, secrets as the service
   * shows them, or as undisclosed if it hides them.
   */
  readonly fields: JsonObject;
  /** Paths of members that no field of the kind covers; no PUT carries them. */
  readonly undeclared?: readonly string[];
  /** As the service sent it. */
  readonly wire: WireObject;
  readonly created?: string;
  readonly modified?: string;
  /** Its owner, if a stack made it. */
  readonly mark?: Mark;
  /** Why no program can declare it unchanged. */
  readonly problem?: string;
}

/** Whether a value has, at any depth, a member that would become the prototype of its holder. */
const namesPrototype = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(namesPrototype)
    : isObject(value) &&
      Object.entries(value).some(([name, of]) => name === "__proto__" || namesPrototype(of));

/** All rules that the inputs break, in one sentence. */
const problemOf = (definition: Definition, id: string, fields: JsonObject): string | undefined => {
  if (!isId(id)) return "the ID is not valid in a request";
  if (namesPrototype(fields)) return 'a member is named "__proto__"';
  const broken = fieldViolations(definition, fields);
  const sentences = broken.map(({ path, rule }) => (path ? `${path} ${rule}` : `it ${rule}`));
  return sentences.length > 0 ? sentences.join("; ") : undefined;
};

/** Reads a listed object in a program's terms: everything that a program can declare. */
export const objectInputs = (
  definition: Definition,
  id: string,
  wire: WireObject,
  settings: Pick<Settings, "platformName">,
): ObjectInputs => {
  const mark = originalMark(definition, wire);
  const { description } = readMark(wire.description);
  const live = fieldsFromWire(definition.fields, { ...wire, description }, settings);
  const typed = typedFields(definition.fields, live);
  const fields = normaliseFields(definition, tidyFields(definition.fields, typed));
  const undeclared = unknownMembers(definition, wire);
  const [created, modified] = [filledText(wire.created), filledText(wire.modified)];
  const problem = problemOf(definition, id, fields);
  return {
    ...{ definition, id, fields, wire },
    ...(undeclared.length > 0 ? { undeclared } : {}),
    ...(created ? { created } : {}),
    ...(modified ? { modified } : {}),
    ...(mark ? { mark } : {}),
    ...(problem ? { problem } : {}),
  };
};

const objects = z.array(z.record(z.string(), z.unknown()));

const kindSchema = z.object({
  /** Name of the resource class. */
  kind: z.enum(resources.map(({ kind }) => kind)),
  /** As the service sent them, reduced to what the definitions know to be no secret. */
  objects,
  /** Why objects are missing. */
  problem: z.string().optional(),
});

/** A reading of an account as a JSON document. */
const savedAccountSchema = z.object({
  format: z.literal("pulumi-conversation account"),
  version: z.literal(1),
  baseUrl: z.string(),
  readAt: z.string(),
  consistent: z.boolean(),
  kinds: z.array(kindSchema),
});

type SavedAccount = z.infer<typeof savedAccountSchema>;

/** A scalar value; undefined if the service sends something else in its place. */
const plain = (wire: unknown): unknown =>
  typeof wire === "object" && wire !== null ? undefined : wire;

/** The member that wraps a value, if one does. */
const inside = (name: string | undefined, wire: unknown, of: (inner: unknown) => unknown) =>
  name !== undefined && isObject(wire) ? { [name]: of(wire[name]) } : of(wire);

const publicEntry = (field: MapField, entry: unknown): unknown => {
  if (!isObject(entry)) return undefined;
  const { key, value } = membersOf(field);
  return { [key]: plain(entry[key]), [value]: publicValue(field.of, entry[value]) };
};

const publicEntries = (field: MapField, wire: unknown): unknown => {
  if (Array.isArray(wire)) return wire.map((entry) => publicEntry(field, entry));
  if (!isObject(wire)) return undefined;
  return objectOf(Object.entries(wire).map(([key, of]) => [key, publicValue(field.of, of)]));
};

const publicItems = ({ of }: ListField, wire: unknown): unknown =>
  Array.isArray(wire) ? wire.map((item) => publicValue(of, item)) : undefined;

/** A value as the service sent it, reduced to what the field knows to be no secret. */
const publicValue = (field: Field, wire: unknown): unknown => {
  if (field.secret) return undefined;
  switch (field.type) {
    case "object":
      return isObject(wire) ? publicMembers(field.fields, wire) : undefined;
    case "list":
      return inside(field.envelope, wire, (items) => publicItems(field, items));
    case "map":
      return publicEntries(field, wire);
    case "text":
      return inside(field.envelope, wire, plain);
    case "reference":
      return inside("id", wire, plain);
    default:
      return plain(wire);
  }
};

/**
 * The members that the fields know to be no secret, in the service's JSON; unknown members are left
 * out.
 */
export const publicMembers = (fields: Fields, wire: JsonObject): JsonObject => {
  const byWire = fieldsByWireName(fields);
  return objectOf(
    Object.entries(wire).flatMap(([name, value]): [string, unknown][] => {
      const [, field] = byWire.get(name) ?? [];
      return field ? [[name, publicValue(field, value)]] : [];
    }),
  );
};

/** The same for a whole object, with what the service adds to each. */
const publicObject = ({ fields }: Pick<Definition, "fields">, wire: JsonObject): JsonObject => ({
  ...objectOf(
    Object.entries(wire)
      .filter(([name]) => isAdded(name))
      .map(([name, value]) => [name, plain(value)]),
  ),
  ...publicMembers(fields, wire),
});

/** A reading as it may be kept on disk: without secrets. */
export const savedAccount = (reading: AccountReading): SavedAccount => ({
  format: "pulumi-conversation account",
  version: 1,
  baseUrl: reading.baseUrl,
  readAt: reading.readAt,
  consistent: reading.consistent,
  kinds: reading.kinds.map(({ definition, objects: found, problem }) => ({
    kind: definition.kind,
    objects: [...found.values()].map((wire) => publicObject(definition, wire)),
    ...(problem === undefined ? {} : { problem }),
  })),
});

/** The content of an emulator, as `GET /snapshot` returns it. */
const snapshotSchema = z.object({
  objects: z.record(z.string(), z.array(z.looseObject({ id: z.string() }))),
});

/** An account in a file, kind by kind. */
interface AccountFile {
  /** Default: the file does not say. */
  readonly readAt?: string;
  readonly consistent: boolean;
  readonly kinds: readonly {
    readonly definition: Definition;
    readonly objects: readonly WireObject[];
    /** Why objects are missing. */
    readonly problem?: string | undefined;
  }[];
}

/** A saved reading, or the snapshot of an emulator; undefined if the text is neither. */
export const accountInFile = (text: string): AccountFile | undefined => {
  const document = jsonIn(text);
  const { data: saved } = savedAccountSchema.safeParse(document);
  if (saved)
    return {
      readAt: saved.readAt,
      consistent: saved.consistent,
      kinds: resources.flatMap((definition) =>
        saved.kinds
          .filter(({ kind }) => kind === definition.kind)
          .map(({ kind: _, ...rest }) => ({ definition, ...rest })),
      ),
    };
  const { data } = snapshotSchema.safeParse(document);
  return (
    data && {
      consistent: true,
      kinds: resources.map((definition) => ({
        definition,
        objects: data.objects[definition.collection] ?? [],
      })),
    }
  );
};
