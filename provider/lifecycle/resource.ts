import type { Definition, Fields } from "../definition/define.js";
import {
  changeFieldSecrets,
  fieldsWithSecrets,
  normaliseFields,
  secretTexts,
} from "../definition/fields.js";
import { namingOf } from "../definition/kinds.js";
import {
  filledText,
  filledTexts,
  type JsonObject,
  objectOf,
  textAt,
  withoutUndefined,
} from "../kernel/json.js";
import {
  environmentSecretsIn,
  ownerParts,
  readableName,
  secretSignature,
  seenSecrets,
  undisclosed,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/pulumi.js";
import type { WireObject } from "../service/lists.js";
import type { AccountSession, HeldObject, ResourceIdentity, Run } from "./run.js";
import type { ResourceMark } from "./stack-states.js";

// A resource: the engine's values, split into their parts; resolved, for the steps of a call; and
// joined again, for the state.

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
  ...["owner", "logicalName", "adopt", "markedSecrets", "profile", "eraseHidden"],
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
export interface KindInRun {
  readonly definition: Definition;
  readonly run: Run;
  /** The field by which people identify objects of the kind. */
  readonly nameKey: string;
  /** The name of the field `nameKey` in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
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
  /** Every text of its values that no message may show, in the program's form and the service's. */
  readonly secrets: readonly string[];
}

/** Resolves the engine's values to a resource, which all steps of a call use. */
export const resourceIn = (of: KindInRun, values: JsonObject): Resource => {
  const { definition, run, nameKey } = of;
  const given = propertiesIn(values);
  const { owner, logicalName, markedSecrets } = given;
  // In the first preview of a stack the owner is not known yet; the logical name then distinguishes
  // resources.
  const isOwned = owner !== undefined && owner !== unknownValue;
  const place = isOwned ? ownerParts(owner).name : owner && logicalName;
  const { kind } = definition;
  const key = `${kind} ${isOwned ? owner : place}`;
  const seen = seenSecrets(run);
  const texts = environmentSecretsIn(given.fields).flatMap((secret) => seen(secret) ?? []);
  const written = withEnvironmentSecrets(given.fields, seen);
  const known = fieldsWithSecrets(definition.fields, markedSecrets);
  const fields = normaliseFields(definition, given.fields, () => false);
  // Placeholders are no secrets.
  const [plain, filled] = [fields, written].map((each) =>
    changeFieldSecrets(known, each, (secret) =>
      secret === undisclosed || secret === unknownValue ? undefined : secret,
    ),
  );
  return {
    ...of,
    properties: { ...given, fields },
    known,
    name: fields[nameKey],
    identity: place === undefined ? undefined : { kind, place, key },
    secrets: [...texts, ...secretTexts(known, plain), ...secretTexts(known, filled)],
  };
};

/** Returns the name of a resource for messages, such as `Channel "kiosk"`. */
export const labelOf = ({ kind, place }: ResourceIdentity): string =>
  `${kind} ${readableName(place)}`;

/** A resource with its account. */
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
 * Returns values for the state: inputs, or outputs if there is a record. Every secret is in the
 * engine's own form, so that the state encrypts it even if a program forgot `pulumi.secret`.
 */
export const stateValues = (definition: Definition, properties: Properties): JsonObject => {
  const { fields, record, logicalName: _, ...options } = properties;
  const sealed = changeFieldSecrets(definition.fields, fields, (value) => ({
    ...secretSignature,
    value,
  }));
  return objectOf([sealed, options, record].flatMap((each) => Object.entries(each)));
};

/** Returns what is known about a newly created object, from the response or from a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord =>
  withoutUndefined({
    serial,
    created: filledText(wire.created),
    modified: filledText(wire.modified),
  });

/** Records that an object belongs to the resource. */
export const assignObject = ({ identity, run }: Resource, object: HeldObject): void => {
  if (!identity) return;
  run.decisions.objects.set(identity.key, object);
  run.decisions.holders.set(object.id, identity);
};

/**
 * Returns the outputs for the state: what the program manages, and what else is known about the
 * object. `adopt` and `eraseHidden` concern a single write and are not stored.
 */
export const outputsWith = (
  { definition, properties }: Resource,
  record: ObjectRecord,
): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  return stateValues(definition, { ...kept, record });
};
