import { managedFields } from "../definition/changes.js";
import type { Definition, Field, Fields } from "../definition/define.js";
import { mergeDeep } from "../definition/extra.js";
import { bodyOf, fieldsFromWire, namingOf, valuesIn } from "../definition/fields.js";
import { sameFieldsMeaning } from "../definition/meaning.js";
import type { Violation } from "../definition/violations.js";
import { ConversationError } from "../kernel/errors.js";
import {
  filledText,
  filledTexts,
  isObject,
  type JsonObject,
  objectOf,
  withoutUndefined,
} from "../kernel/json.js";
import {
  type EnvironmentSecret,
  environmentSecretPaths,
  environmentSecretsIn,
  secretSignature,
  undisclosed,
  unknownValue,
  withEnvironmentSecrets,
} from "../kernel/stand-ins.js";
import { ownerParts } from "../pulumi-cli/owner.js";
import type { WireObject } from "../service/lists.js";
import {
  hasRoom,
  type Mark,
  markFor,
  markOf,
  markText,
  newSerial,
  objectTime,
  readMark,
  roomBeside,
} from "./ownership/mark.js";
import type { AccountSession, ResourceIdentity, Run, RunEnvironment } from "./run.js";

/** One kind, in one run. */
export interface Context {
  readonly definition: Definition;
  readonly run: Run;
}

/** A resource as the program or the state has it: resolved once per call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which people know objects of the kind, and its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The same field in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is derived from the logical name if a program omits it. */
  readonly isAutomatic: boolean;
  /** How the run identifies the resource; undefined for state so old that it names no owner. */
  readonly identity: ResourceIdentity | undefined;
  /** The mark of its objects, if marks are on. */
  readonly ownMark: Mark | undefined;
  /** The number of characters that the description field has left beside the mark. */
  readonly room: number;
}

/** Resolves the engine's values, once for all steps of a call. */
export const resourceIn = (context: Context, values: JsonObject): Resource => {
  const owned = ownerIn(context, values.owner);
  const { key: nameKey, wire: nameOnWire, ...naming } = namingOf(context.definition);
  const properties = propertiesIn(values);
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run identifies a resource by its part of its mark, whether or not marks are written. In the
 * first preview of a stack the owner is not known yet; the URN then distinguishes resources.
 */
const ownerIn = (
  { definition: { kind, fields }, run }: Context,
  owner: unknown,
): Pick<Resource, "identity" | "ownMark" | "room"> => {
  if (typeof owner !== "string" || owner === "")
    return { identity: undefined, ownMark: undefined, room: -1 };
  const urn = owner === unknownValue ? run.urn?.() : undefined;
  const name = urn ? urn.split("::").at(-1) : ownerParts(owner).name;
  const { description: field } = fields;
  const ownMark = markOf(kind, owner);
  const room = field?.type === "text" ? roomBeside(ownMark, field.max) : -1;
  const key = owner === unknownValue ? urn : ownMark.resource;
  const label = `${kind} ${JSON.stringify(name)}`;
  return { identity: key === undefined ? key : { key, label, kind }, ownMark, room };
};

/** A resource with its account. */
export interface Declared extends Resource, AccountSession {
  /** The mark of its objects; undefined if marks are off. */
  readonly mark: Mark | undefined;
  /**
   * Whether an object created now would carry the mark: a long description leaves no room for it.
   */
  readonly isMarked: boolean;
}

/** An object at the service, with its id. */
export type Found = WireObject & { readonly id: string };

/**
 * The resource in the account that its settings name.
 *
 * @param session for that account, if there is one
 */
export const connected = async (
  resource: Resource,
  session?: AccountSession,
): Promise<Declared> => {
  const { definition, ownMark, room, properties, run } = resource;
  const { settings, service } = session ?? (await run.session(properties.profile));
  const { description: field } = definition.fields;
  const { description } = properties.fields;
  const isOn = settings.ownershipMark === "description" && field?.type === "text";
  const mark = isOn ? ownMark : undefined;
  const beside = typeof description === "string" && description ? description.length + 1 : 0;
  return { ...resource, settings, service, mark, isMarked: mark !== undefined && beside <= room };
};

/** The resource as it was when its object was last written, in its present account. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> =>
  connected(resourceIn(declared, { ...olds, profile: declared.properties.profile }), declared);

/** Whether an object of the service has these values, as far as the service shows them. */
export const holdsFields = (
  { definition: { fields }, settings }: Declared,
  wire: WireObject,
  wanted: JsonObject,
): boolean => {
  const live = managedFields(fields, fieldsFromWire(fields, wire, settings), wanted);
  return sameFieldsMeaning(fields, live, wanted);
};

/**
 * The object itself, to be overwritten: a list may show less of it and may be old. Undefined if it
 * is gone.
 */
export const wholeObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<Found | undefined> => {
  const wire = await service.read(definition, id);
  return wire && { ...wire, id };
};

/** A resource's values: the fields of its kind, and the options that every resource takes. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: the owner of the object. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /**
   * Further members of the service's JSON; in a preview, the engine's text for values not known
   * yet.
   */
  readonly extra?: JsonObject | typeof unknownValue;
  /**
   * Paths into `extra` whose values are secret: those that the program marks, and those that
   * contain a secret from the environment.
   */
  readonly extraSecrets?: readonly string[];
  /**
   * Paths into the fields whose values the program marks as secret although their definition does
   * not.
   */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase members that the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learned about the object when it was created or written; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state keeps about an object besides the program's declaration. */
export interface ObjectRecord {
  /** Distinguishes the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not declare. */
  readonly undeclared?: readonly string[];
}

/**
 * A program cannot know what an output in its `extra` will contain, so secrets from the environment
 * are found here.
 */
const secretPaths = (extra: unknown, marked: unknown): readonly string[] | undefined => {
  const paths = new Set([...(filledTexts(marked) ?? []), ...environmentSecretPaths(extra)]);
  return filledTexts([...paths].sort());
};

/**
 * Splits the engine's values into their parts. Values added by the engine or the service are
 * omitted, and so is `autoName`, which only the check uses.
 */
export const propertiesIn = (values: JsonObject): Properties => {
  const { owner, adopt, extra, extraSecrets, markedSecrets, profile, eraseHidden, ...others } =
    values;
  const { serial, created, modified, undeclared, __provider, id, autoName, ...fields } = others;
  const record = withoutUndefined({
    serial: filledText(serial),
    created: filledText(created),
    modified: filledText(modified),
    undeclared: filledTexts(undeclared),
  });
  return withoutUndefined({
    fields: objectOf(Object.entries(fields)),
    owner: filledText(owner),
    adopt: adopt === true ? adopt : filledText(adopt),
    extra: isObject(extra) ? extra : extra === unknownValue ? unknownValue : undefined,
    extraSecrets: secretPaths(extra, extraSecrets),
    markedSecrets: filledTexts(markedSecrets),
    profile: filledText(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    record,
  });
};

const wrap = (value: unknown): JsonObject => ({ ...secretSignature, value });

/** Replaces a secret; if it returns undefined, the secret is omitted. */
type Change = (secret: unknown) => unknown;

// Deliberately separate from changeInside, which does the same: every value of every call passes
// through here.
const changeValue = (field: Field, value: unknown, change: Change): unknown => {
  if (value === undefined || value === null) return value;
  if (field.secret) return change(value);
  if (field.type === "object" && isObject(value))
    return changeFieldSecrets(field.fields, value, change);
  if (field.type === "list" && Array.isArray(value))
    return value.map((item) => changeValue(field.of, item, change));
  if (field.type === "map" && isObject(value)) {
    return objectOf(
      Object.entries(value).map(([key, of]) => [key, changeValue(field.of, of, change)]),
    );
  }
  return value;
};

/** Field values with every secret replaced. */
const changeFieldSecrets = (fields: Fields, values: JsonObject, change: Change): JsonObject =>
  objectOf(
    Object.entries(values).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, field ? changeValue(field, value, change) : value];
    }),
  );

/** @param paths such as `apiKey` or `auth.token`; the empty path is all of it */
const changePaths = (extra: JsonObject, paths: readonly string[], change: Change): unknown =>
  paths.includes("")
    ? change(extra)
    : objectOf(
        Object.entries(extra).map(([name, value]) => {
          const below = paths.flatMap((path) =>
            path.startsWith(`${name}.`) ? [path.slice(name.length + 1)] : [],
          );
          if (paths.includes(name)) return [name, change(value)];
          return [
            name,
            isObject(value) && below.length > 0 ? changePaths(value, below, change) : value,
          ];
        }),
      );

const changeSecrets = (
  { fields }: Definition,
  { extra, ...properties }: Properties,
  change: Change,
): Properties => {
  const { extraSecrets = [] } = properties;
  const changed = isObject(extra) ? changePaths(extra, extraSecrets, change) : extra;
  return {
    ...properties,
    fields: changeFieldSecrets(fields, properties.fields, change),
    ...(isObject(changed) || changed === unknownValue ? { extra: changed } : {}),
  };
};

/** Field values with every secret in the engine's own form. */
export const wrapFieldSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeFieldSecrets(fields, values, wrap);

/**
 * The properties without any secret. A masked value cannot be compared with the intended one, so
 * after a failed write the state must not claim that the value was written.
 */
export const dropSecrets = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, () => undefined);

/**
 * Without the secrets that an import did not read: nobody knows them, so nothing can be said about
 * them.
 */
const dropUndisclosed = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, (secret) => (secret === undisclosed ? undefined : secret));

/** The inputs of a resource in one object, secrets in clear text. */
export const joinInputs = ({ fields, record: _, ...options }: Properties): JsonObject =>
  objectOf([...Object.entries(fields), ...Object.entries(options)]);

/**
 * The inputs as the state keeps them. Every secret has the engine's own form, including those that
 * the program marked in `extra`, so that the state encrypts it even if a program forgot
 * `pulumi.secret`.
 */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(changeSecrets(definition, properties, wrap));

/**
 * The outputs as the state keeps them: what the program manages, and what else is known about the
 * object. `adopt` and `eraseHidden` concern a single write and are not kept.
 */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  const { record } = kept;
  return objectOf([...Object.entries(stateInputs(definition, kept)), ...Object.entries(record)]);
};

/** What is known about a newly created object, from the answer or from a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** Maximum time between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;

const latestMs = 1_000;

/**
 * A time of the service. Right after a creation or an update it comes from the answer's `Date`,
 * which is slightly later and has no fractions of a second: that counts as the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** What is known about an object, with the times that the service gives now. */
export const liveRecord = (live: WireObject, record: ObjectRecord): ObjectRecord => {
  const created = sameTime(live.created, record.created);
  const modified = sameTime(live.modified, record.modified);
  return { ...record, ...(created ? { created } : {}), ...(modified ? { modified } : {}) };
};

type Environment = Readonly<Record<string, string | undefined>>;

const environmentOf = ({ environment }: Pick<RunEnvironment, "environment">): Environment =>
  environment ?? process.env;

const missing = ({ name, version }: EnvironmentSecret): string =>
  `a secret of it is taken from the environment variable ${name} (version ${version}), which is not set`;

/**
 * Values with the secrets of the environment filled in, as the service receives them.
 *
 * @throws ConversationError `SETTINGS_MISSING` if a variable is not set
 */
export const writtenSecrets = <T>(value: T, environment: Environment = process.env): T =>
  withEnvironmentSecrets(value, (secret) => {
    const found = environment[secret.name];
    if (found) return found;
    throw new ConversationError(
      "SETTINGS_MISSING",
      `${missing(secret)}. Nothing was changed. Set ${secret.name} where Pulumi runs, then run it again.`,
    );
  });

/** A resource as the service receives it. @throws ConversationError `SETTINGS_MISSING` */
export const asWritten = <R extends Resource>(resource: R): R => ({
  ...resource,
  properties: writtenSecrets(resource.properties, environmentOf(resource.run)),
});

/**
 * A resource as it was last written: the value of a version that is no longer declared is unknown,
 * so its placeholder stays.
 */
export const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  const environment = environmentOf(now.run);
  const declared = new Set(environmentSecretsIn(now.properties).map(({ text }) => text));
  const known = ({ name, text }: EnvironmentSecret) =>
    declared.has(text) ? environment[name] || undefined : undefined;
  return { ...before, properties: withEnvironmentSecrets(before.properties, known) };
};

/**
 * The fields with the secrets that this process can see, so that they are checked, too. Only in
 * secret fields: for any other field, the message about a broken rule may show its value.
 *
 * @param reports whether to report variables that are not set: a preview continues without them
 */
export const checkedSecrets = (resource: Resource, reports: boolean): JsonObject => {
  const { run, definition, name, properties } = resource;
  const environment = environmentOf(run);
  for (const secret of reports ? environmentSecretsIn(properties) : []) {
    if (environment[secret.name]) continue;
    run.notify?.(
      `${definition.kind} ${JSON.stringify(name)}: ${missing(secret)}. A preview goes on without it; pulumi up will not.`,
      "warning",
    );
  }
  const found = ({ name: variable }: EnvironmentSecret) => environment[variable] || undefined;
  return changeFieldSecrets(definition.fields, properties.fields, (secret) =>
    withEnvironmentSecrets(secret, found),
  );
};

/** Only secrets can come from the environment, because everything else is shown and compared. */
export const misplacedSecrets = ({ definition, properties }: Resource): readonly Violation[] =>
  valuesIn(definition.fields, properties.fields).flatMap(({ field, path, value }) =>
    field.secret || typeof value !== "string" || environmentSecretsIn(value).length === 0
      ? []
      : [
          {
            path,
            rule: "is no secret, and fromEnv is for secrets only. Read the variable in the program",
          },
        ],
  );

/**
 * The secrets of the environment inside values, as far as this process can see them, and the values
 * that contain them.
 */
export const secretsSeen = (
  values: JsonObject,
  run: Pick<RunEnvironment, "environment">,
): { readonly texts: readonly string[]; readonly written: JsonObject } => {
  const environment = environmentOf(run);
  const seen = ({ name }: EnvironmentSecret) => environment[name] || undefined;
  return {
    texts: environmentSecretsIn(values).flatMap((secret) => seen(secret) ?? []),
    written: withEnvironmentSecrets(values, seen),
  };
};

/** The intended content of a resource's object at the service. */
interface DesiredBody {
  readonly body: JsonObject;
  /**
   * Whether the body carries the mark: marks may be off, or a long description may leave no room.
   */
  readonly isMarked: boolean;
  /** The serial of the object, whether or not the body carries it. */
  readonly serial: string;
}

/** What else is known about the object. */
interface ObjectSoFar {
  /** Left out: a new serial. */
  readonly serial?: string | undefined;
  /** Its description; text written by a person is kept if the program gives none. */
  readonly description?: unknown;
}

/** The fields, the owner mark and the members of `extra`. */
export const desiredBody = (declared: Declared, object: ObjectSoFar): DesiredBody => {
  const { definition, settings, service, mark, name } = declared;
  const { fields, extra } = dropUndisclosed(definition, declared.properties);
  const { description: human } = readMark(object.description);
  const given = fields.description;
  const written = typeof given === "string" && given !== "" ? given : human;
  const isMarked = mark !== undefined && hasRoom(declared, written);
  const serial = object.serial ?? newSerial(service.now());
  const suffix = isMarked ? markText(markFor(mark, serial, name)) : undefined;
  const description = written && suffix ? `${written} ${suffix}` : (suffix ?? written);
  const body = bodyOf(definition, { ...fields, description }, settings);
  return {
    body: isObject(extra) ? mergeDeep(body, extra) : body,
    isMarked,
    serial,
  };
};
