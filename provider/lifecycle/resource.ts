import { hash } from "node:crypto";
import type { Definition, Fields } from "../definition/define.js";
import {
  changeFieldSecrets,
  fieldsWithSecrets,
  normaliseFields,
  secretTexts,
  withoutPlaceholders,
} from "../definition/fields.js";
import { type Naming, namingOf } from "../definition/kinds.js";
import {
  filledText,
  filledTexts,
  type JsonObject,
  objectOf,
  textAt,
  withoutUndefined,
} from "../kernel/json.js";
import { assertNode } from "../kernel/node-version.js";
import {
  type EnvironmentSecret,
  environmentSecretsIn,
  ownerParts,
  readableName,
  secretSignature,
  seenSecrets,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/pulumi.js";
import { assertDistinctProfiles } from "../service/settings.js";
import type { AccountSession, HeldObject, ResourceIdentity, Run } from "./run.js";
import type { Mark, ResourceMark } from "./stack-states.js";

// A resource: the engine's values, split into their parts; resolved, for the steps of a call; with its
// account and the mark of its objects; and joined again, for the state.

/** A resource's values: the fields of its kind, and the options that every resource has. */
export interface Properties {
  readonly fields: JsonObject;
  /** The object's owner: `<project>/<stack>/<random>/<logical name>`. */
  readonly owner?: string;
  /**
   * The resource's logical name, after the types of its parents, as at the end of `owner`. Only the
   * check of a dynamic resource receives it, because the owner may be unknown then.
   */
  readonly logicalName?: string;
  /**
   * The existing object to adopt: `true` for the object with the resource's name, or the object's
   * ID.
   */
  readonly adopt?: true | string;
  /** Paths to field values that the program marks as secret although their definition does not. */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings profile. */
  readonly profile?: string;
  /**
   * Whether an update may erase members that the service hides and the program does not declare.
   */
  readonly eraseHidden?: true;
  /** What is known about the object besides its declared values; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state stores about an object besides the program's declaration. */
export interface ObjectRecord {
  /** Part of the object's mark that distinguishes the object from its copies. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written but that the program does not declare. */
  readonly undeclared?: readonly string[];
}

/** What is no field of a kind: options, records, and what only the check or the engine uses. */
const reserved: ReadonlySet<string> = new Set([
  ...["owner", "logicalName", "adopt", "markedSecrets", "unknownPaths", "profile", "eraseHidden"],
  ...["serial", "created", "modified", "undeclared"],
  ...["id", "__provider", "autoName", "imported"],
]);

/** Splits the engine's values into their parts. */
export const propertiesIn = (values: JsonObject): Properties =>
  withoutUndefined({
    fields: objectOf(Object.entries(values).filter(([name]) => !reserved.has(name))),
    owner: textAt(values, "owner"),
    logicalName: textAt(values, "logicalName"),
    adopt: values.adopt === true ? values.adopt : textAt(values, "adopt"),
    markedSecrets: filledTexts(values.markedSecrets),
    profile: textAt(values, "profile"),
    eraseHidden: values.eraseHidden === true ? values.eraseHidden : undefined,
    record: withoutUndefined({
      serial: textAt(values, "serial"),
      created: textAt(values, "created"),
      modified: textAt(values, "modified"),
      undeclared: filledTexts(values.undeclared),
    }),
  });

/** What all resources of a kind have in common within a run. */
export interface KindInRun extends Pick<Naming, "isUnique" | "isAutomatic"> {
  readonly definition: Definition;
  readonly run: Run;
  /** The field by which people identify objects of the kind. */
  readonly nameKey: string;
  /** The name of the field `nameKey` in the service's JSON. */
  readonly nameOnWire: string;
}

/** Returns what all resources of a kind have in common within a run. */
export const kindInRun = (definition: Definition, run: Run): KindInRun => {
  const { key: nameKey, wire: nameOnWire, ...naming } = namingOf(definition);
  return { definition, run, nameKey, nameOnWire, ...naming };
};

/** A resource in the program or the state, resolved once per call, without a connection. */
export interface Resource extends KindInRun {
  /** With the fields in their normal form. */
  readonly properties: Properties;
  /** The fields of the kind, with what the program marks as secret. */
  readonly known: Fields;
  /** The value of the field `nameKey`. */
  readonly name: unknown;
  /**
   * How the run identifies the resource; undefined for old state that does not specify an owner.
   */
  readonly identity: ResourceIdentity | undefined;
  /** The placeholders in its fields for secrets from the environment. Few programs have any. */
  readonly environmentSecrets: readonly EnvironmentSecret[];
  /** Every text of its values that no message may show, in the program's form and the service's. */
  readonly secrets: () => readonly string[];
}

/** Resolves the engine's values to a resource, which all steps of a call use. */
export const resourceIn = (of: KindInRun, values: JsonObject): Resource => {
  const { definition, run, nameKey } = of;
  const given = propertiesIn(values);
  const { owner, logicalName, markedSecrets, profile } = given;
  // In the first preview of a stack the owner is not known yet; the logical name then distinguishes
  // resources.
  const isOwned = owner !== undefined && owner !== unknownValue;
  const place = isOwned ? ownerParts(owner).name : owner && logicalName;
  const { kind } = definition;
  const key = `${kind} ${isOwned ? owner : place}`;
  const environmentSecrets = environmentSecretsIn(given.fields);
  const known = fieldsWithSecrets(definition.fields, markedSecrets);
  const fields = normaliseFields(definition, given.fields, () => false);
  const disclosed = withoutPlaceholders(known, fields);
  return {
    ...of,
    properties: { ...given, fields },
    known,
    name: fields[nameKey],
    identity: place === undefined ? undefined : { kind, place, key, profile },
    environmentSecrets,
    // Only a failure asks for them.
    secrets: () => {
      const seen = seenSecrets(run);
      const filled = withoutPlaceholders(known, withEnvironmentSecrets(given.fields, seen));
      return [
        ...environmentSecrets.flatMap((secret) => seen(secret) ?? []),
        ...[disclosed, filled].flatMap((each) => secretTexts(known, each)),
      ];
    },
  };
};

/** Returns the name of a resource for messages, such as `Channel "kiosk"`. */
export const labelOf = ({ kind, place }: ResourceIdentity): string =>
  `${kind} ${readableName(place)}`;

/** Returns a name for messages; undefined if there is none or if the program marks it as secret. */
export const shownName = (
  { known, nameKey }: Pick<Resource, "known" | "nameKey">,
  name: unknown,
): string | undefined =>
  typeof name === "string" && !known[nameKey]?.secret
    ? JSON.stringify([...name].slice(0, 80).join(""))
    : undefined;

export const assignObject = ({ run, identity }: Resource, object: HeldObject): void => {
  if (!identity) return;
  run.decisions.objects.set(identity.key, object);
  run.decisions.holders.set(object.id, identity);
};

export interface Declared extends Resource, AccountSession {
  /** The mark of the resource's objects, whether or not marks are enabled. */
  readonly ownMark: ResourceMark | undefined;
  /** The mark of the resource's objects; undefined if marks are disabled. */
  readonly mark: ResourceMark | undefined;
  /**
   * Number of characters that fit into the description field next to the mark; negative if none.
   */
  readonly room: number;
  /**
   * Whether an object created now would carry the mark. A long description may leave no room for
   * it.
   */
  readonly isMarked: boolean;
}

/**
 * Returns a profile's session, which is created on first use so that a run without changes needs
 * neither settings nor a token.
 */
export const openSession = (run: Run, profile?: string): Promise<AccountSession> => {
  const { sessions } = run;
  const known = sessions.get(profile);
  if (known) return known;
  const made = (async () => {
    assertNode();
    assertDistinctProfiles(profile, sessions.keys());
    return run.connect(profile);
  })();
  sessions.set(profile, made);
  // A failure to connect is not cached: the next call reads the settings again.
  made.catch(() => sessions.delete(profile));
  return made;
};

/** Returns the resource together with the account that its settings specify. */
export const connected = async (resource: Resource): Promise<Declared> =>
  inAccount(resource, await openSession(resource.run, resource.properties.profile));

export const inAccount = (resource: Resource, { settings, service }: AccountSession): Declared => {
  const { definition, properties } = resource;
  const { owner, fields } = properties;
  const { description: field } = definition.fields;
  const ownMark = owner === undefined ? undefined : markOf(definition.kind, owner);
  const room = ownMark && field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const mark = isOn ? ownMark : undefined;
  const isMarked = hasRoom({ mark, room }, filledText(fields.description));
  return { ...resource, settings, service, ownMark, mark, room, isMarked };
};

/** The first `length` characters of a string's SHA-256 hash. */
export const digest = (text: string, length: number): string =>
  hash("sha256", text).slice(0, length);

const readable = (text: string): string => text.replace(/[^\w./@-]+/g, "_").slice(0, 80);

/** The part that all marks of a stack share, derived from the ID of its `Ownership`. */
export const stackMark = (ownership: string): string => digest(ownership, 8);

/** The start of the label in each of a stack's marks, such as `shop/prod`. */
export const stackLabel = (project: string, stack: string): string =>
  readable(`${project}/${stack}`);

/** The project and stack in a mark's label: `shop/prod` in `shop/prod kiosk`. */
export const stackOfLabel = (label: string): string => label.split(" ")[0] ?? label;

/** The logical name in a mark's label: `kiosk` in `shop/prod kiosk`. */
export const nameOfLabel = (label: string): string => label.split(" ")[1] ?? label;

/** A resource's mark, without the parts that distinguish its objects. */
export const markOf = (kind: string, owner: string): ResourceMark => {
  const { project, stack, ownership, name } = ownerParts(owner);
  return {
    label: `${stackLabel(project, stack)} ${readable(name)}`,
    stack: stackMark(ownership),
    resource: digest(`${kind} ${owner}`, 12),
  };
};

/** Characters of a serial, and of a checksum. */
export const serialLength = 11;

const checksumLength = 4;

/** A number in the given count of digits and letters. */
export const base36 = (value: number, length: number): string =>
  Math.floor(value).toString(36).padStart(length, "0").slice(-length);

export const markText = ({ label, stack, resource, serial, checksum }: Mark): string =>
  `[pulumi: ${label} #${stack}-${resource}-${serial}${checksum}]`;

/**
 * The number of characters that a resource's mark, which always has the same length, leaves for
 * other text in a field.
 *
 * @param max length of the field. Default: unlimited
 */
const roomBeside = (mark: ResourceMark, max = Number.POSITIVE_INFINITY): number =>
  max - markText(markFor(mark, "0".repeat(serialLength), "")).length;

/** Whether there is a mark, and it fits in the field beside this text. */
export const hasRoom = (
  { mark, room }: Pick<Declared, "mark" | "room">,
  description: string | undefined,
): boolean => mark !== undefined && (description ? description.length + 1 : 0) <= room;

/** A service may return a name in another form of the same text. */
export const checksumOf = (serial: string, name: unknown): string => {
  const text = `${serial} ${String(name ?? "")
    .normalize("NFC")
    .trim()}`;
  return base36(Number.parseInt(digest(text, 12), 16) % 36 ** checksumLength, checksumLength);
};

export const markFor = (mark: ResourceMark, serial: string, name: unknown): Mark => ({
  ...mark,
  serial,
  checksum: checksumOf(serial, name),
});

/**
 * Returns values for the state: inputs or, with a record, outputs. `adopt` and `eraseHidden` concern
 * a single write, so outputs lack them. Every secret is in the engine's own form, so that the state
 * encrypts it even if a program forgot `pulumi.secret`, or an inline program's transform dropped it.
 *
 * @param record what is known about the object besides what the program manages
 */
export const stateValues = (
  { definition, properties }: Pick<Resource, "definition" | "properties">,
  record?: ObjectRecord,
): JsonObject => {
  const { fields, record: _, logicalName: __, adopt, eraseHidden, ...kept } = properties;
  const known = fieldsWithSecrets(definition.fields, properties.markedSecrets);
  const sealed = changeFieldSecrets(known, fields, (value) => ({ ...secretSignature, value }));
  const others = record ?? { adopt, eraseHidden };
  return objectOf([sealed, kept, others].flatMap((each) => Object.entries(each)));
};
