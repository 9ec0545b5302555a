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

/** A resource as the program or the state has it: resolved once for each call, without a connection. */
export interface Resource extends Context {
  readonly properties: Properties;
  /** The field by which a person knows objects of the kind, and its value. */
  readonly nameKey: string;
  readonly name: unknown;
  /** The same field in the service's JSON. */
  readonly nameOnWire: string;
  /** Whether no two objects of the kind can have the same name. */
  readonly isUnique: boolean;
  /** Whether the name is made from the logical name where a program leaves it out. */
  readonly isAutomatic: boolean;
  /** How the run knows the resource; undefined for state so old that it names no owner. */
  readonly identity: ResourceIdentity | undefined;
  /** What its objects are marked with, where marks are on. */
  readonly ownMark: Mark | undefined;
  /** How many characters the field of the description has beside the mark. */
  readonly room: number;
}

/** Resolves what the engine hands over, once for all steps of a call. */
export const resourceIn = (context: Context, values: JsonObject): Resource => {
  const owned = ownerIn(context, values.owner);
  const { key: nameKey, wire: nameOnWire, ...naming } = namingOf(context.definition);
  const properties = propertiesIn(values);
  const name = properties.fields[nameKey];
  return { ...context, properties, nameKey, name, nameOnWire, ...naming, ...owned };
};

/**
 * The run knows a resource by its part of its mark, whether or not marks are written. In the first
 * preview of a stack the owner is not known yet; there the URN distinguishes resources.
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

/** A resource with the account that it is in. */
export interface Declared extends Resource, AccountSession {
  /** What its objects are marked with; undefined where marks are off. */
  readonly mark: Mark | undefined;
  /** Whether an object made now would carry the mark: a long description leaves no room for it. */
  readonly isMarked: boolean;
}

/** An object at the service, with its id. */
export type Found = WireObject & { readonly id: string };

/**
 * The resource in the account that its settings name.
 *
 * @param session with that account, where there is one
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

/** The resource as it was when its object was last written, in the account where it is now. */
export const declaredBefore = (declared: Declared, olds: JsonObject): Promise<Declared> =>
  connected(resourceIn(declared, { ...olds, profile: declared.properties.profile }), declared);

/** Whether an object of the service holds these values, as far as the service shows it. */
export const holdsFields = (
  { definition: { fields }, settings }: Declared,
  wire: WireObject,
  wanted: JsonObject,
): boolean => {
  const live = managedFields(fields, fieldsFromWire(fields, wire, settings), wanted);
  return sameFieldsMeaning(fields, live, wanted);
};

/**
 * The object itself, to be written over: a list may show less of it, and may have been asked for long
 * ago. Undefined where it is gone.
 */
export const wholeObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<Found | undefined> => {
  const wire = await service.read(definition, id);
  return wire && { ...wire, id };
};

/** A resource's values: the fields of its kind, and what every resource takes besides. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: whose the object is. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /** Further members of the service's JSON; the engine's text for what is not known yet, in a preview. */
  readonly extra?: JsonObject | typeof unknownValue;
  /** Paths into `extra` whose values are secret: what the program marks, and what holds a secret of the environment. */
  readonly extraSecrets?: readonly string[];
  /** Paths into the fields whose values the program marks as secret, though their definition does not. */
  readonly markedSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase what the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learnt of the object when it was made or written; only in outputs. */
  readonly record: ObjectRecord;
}

/** What the state keeps of an object besides what the program says. */
export interface ObjectRecord {
  /** Distinguishes the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not name. */
  readonly undeclared?: readonly string[];
}

/** A program cannot see what an output of its `extra` will hold, so what takes the environment's place is looked for here. */
const secretPaths = (extra: unknown, marked: unknown): readonly string[] | undefined => {
  const paths = new Set([...(filledTexts(marked) ?? []), ...environmentSecretPaths(extra)]);
  return filledTexts([...paths].sort());
};

/**
 * The values that the engine hands over, in their parts; what the engine or the service put in besides
 * is left out, and so is `autoName`, which is for the check alone.
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

/** What becomes of a secret; one that becomes nothing is left out. */
type Change = (secret: unknown) => unknown;

// As changeInside does, and apart from it on purpose: every value of every call goes through here.
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

/** Field values with something else in the place of every secret. */
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
 * Without any secret. What a service masks cannot be compared with what it was meant to become, so
 * after a write that failed the state must not claim that it became so.
 */
export const dropSecrets = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, () => undefined);

/** Without the secrets that an import did not read: nobody knows them, so nothing can be said of them. */
const dropUndisclosed = (definition: Definition, properties: Properties): Properties =>
  changeSecrets(definition, properties, (secret) => (secret === undisclosed ? undefined : secret));

/** The inputs of a resource in one object, secrets in clear. */
export const joinInputs = ({ fields, record: _, ...options }: Properties): JsonObject =>
  objectOf([...Object.entries(fields), ...Object.entries(options)]);

/**
 * The inputs as the state keeps them. Every secret is in the engine's own form, those in `extra` that
 * the program gave as such included, so that the state holds it encrypted even where a program forgot
 * `pulumi.secret`.
 */
export const stateInputs = (definition: Definition, properties: Properties): JsonObject =>
  joinInputs(changeSecrets(definition, properties, wrap));

/**
 * The outputs as the state keeps them: what the program manages, and what is known of the object
 * besides. `adopt` and `eraseHidden` are about one write and are not kept.
 */
export const stateOutputs = (definition: Definition, properties: Properties): JsonObject => {
  const { adopt: _, eraseHidden: __, ...kept } = properties;
  const { record } = kept;
  return objectOf([...Object.entries(stateInputs(definition, kept)), ...Object.entries(record)]);
};

/** What is known of an object that was just made, by the answer or by a list. */
export const recordOf = (wire: WireObject, serial: string | undefined): ObjectRecord => ({
  ...(serial ? { serial } : {}),
  ...(typeof wire.created === "string" ? { created: wire.created } : {}),
  ...(typeof wire.modified === "string" ? { modified: wire.modified } : {}),
});

/** Between the service's commit and the `Date` of its answer. */
const earliestMs = 60_000;

const latestMs = 1_000;

/**
 * A time of the service. Right after a creation or an update it is taken from the answer's `Date`,
 * which is a little later and has no fractions of a second: that is the same time.
 */
const sameTime = (live: unknown, prior: string | undefined): string | undefined => {
  if (typeof live !== "string") return prior;
  const later = objectTime(live) - objectTime(prior);
  return prior !== undefined && later >= -earliestMs && later <= latestMs ? prior : live;
};

/** What is known of an object, with its times as the service gives them now. */
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
 * Values with the secrets of the environment in their places, as the service gets them.
 *
 * @throws ConversationError `SETTINGS_MISSING` where a variable is not set
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

/** A resource as the service gets it. @throws ConversationError `SETTINGS_MISSING` */
export const asWritten = <R extends Resource>(resource: R): R => ({
  ...resource,
  properties: writtenSecrets(resource.properties, environmentOf(resource.run)),
});

/**
 * A resource as it was last written: the value of a version that is no longer declared is not known
 * any more, so what stands in its place stays.
 */
export const lastWritten = <R extends Resource>(before: R, now: Resource): R => {
  const environment = environmentOf(now.run);
  const declared = new Set(environmentSecretsIn(now.properties).map(({ text }) => text));
  const known = ({ name, text }: EnvironmentSecret) =>
    declared.has(text) ? environment[name] || undefined : undefined;
  return { ...before, properties: withEnvironmentSecrets(before.properties, known) };
};

/**
 * The fields with the secrets that this process can see, so that they are checked, too. Only in secret
 * fields: the rule that another one breaks may show its value.
 *
 * @param reports whether to say which variables are not set: a preview goes on without them
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

/** What is not secret is shown and compared, so the environment cannot stand behind it. */
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

/** The secrets of the environment inside values, as far as this process can see them, and the values with them. */
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

/** What the service is to hold of a resource. */
interface DesiredBody {
  readonly body: JsonObject;
  /** Whether the body carries the mark: marks may be off, and a long description leaves no room for one. */
  readonly isMarked: boolean;
  /** The serial of the object, whether or not the body carries it. */
  readonly serial: string;
}

/** What is known of the object besides. */
interface ObjectSoFar {
  /** Left out: a new one. */
  readonly serial?: string | undefined;
  /** Its description, of which what a person wrote is kept where the program gives none. */
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
