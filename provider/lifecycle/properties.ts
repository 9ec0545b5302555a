import { isObject, type JsonObject, objectOf } from "../kernel/json.js";
import { unknownValue } from "../kernel/unknown.js";

/** A resource's values: the fields of its kind, and what every resource takes besides. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: whose the object is. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /** Further members of the service's JSON; the engine's text for what is not known yet, in a preview. */
  readonly extra?: JsonObject | typeof unknownValue;
  /** Paths into `extra` whose values are secret. */
  readonly extraSecrets?: readonly string[];
  /** Name of the settings to use. */
  readonly profile?: string;
  /** An update may erase what the service hides and the program does not declare. */
  readonly eraseHidden?: true;
  /** What was learnt of the object when it was made or written; only in outputs. */
  readonly told: Told;
}

/** What the state keeps of an object besides what the program says. */
export interface Told {
  /** Tells the object from copies of it; part of its mark. */
  readonly serial?: string;
  readonly created?: string;
  readonly modified?: string;
  /** Members that the object had when it was last written and that the program does not name. */
  readonly undeclared?: readonly string[];
}

/** What `check` is told and the state does not keep: the name that was made for a resource without one. */
const passing = ["autoName"];

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const textsOf = (value: unknown): readonly string[] | undefined => {
  const texts = Array.isArray(value)
    ? value.filter((item): item is string => typeof item === "string")
    : [];
  return texts.length > 0 ? texts : undefined;
};

const extraOf = (value: unknown): Properties["extra"] =>
  isObject(value) ? value : value === unknownValue ? unknownValue : undefined;

/** Members that have a value. */
const present = <T extends object>(values: { readonly [K in keyof T]: T[K] | undefined }): T =>
  objectOf(Object.entries(values)) as T;

/** Splits a bag of the engine; what the engine or the service put in besides is left out. */
export const split = (bag: JsonObject): Properties => {
  const { owner, adopt, extra, extraSecrets, profile, eraseHidden, ...others } = bag;
  const { serial, created, modified, undeclared, __provider, id, ...rest } = others;
  const fields = objectOf(Object.entries(rest).filter(([name]) => !passing.includes(name)));
  return present<Properties>({
    fields,
    owner: textOf(owner),
    adopt: adopt === true ? adopt : textOf(adopt),
    extra: extraOf(extra),
    extraSecrets: textsOf(extraSecrets),
    profile: textOf(profile),
    eraseHidden: eraseHidden === true ? eraseHidden : undefined,
    told: present<Told>({
      serial: textOf(serial),
      created: textOf(created),
      modified: textOf(modified),
      undeclared: textsOf(undeclared),
    }),
  });
};

/** The inputs of a resource as the state keeps them. */
export const joinInputs = ({ fields, told: _, ...rest }: Properties): JsonObject =>
  objectOf([...Object.entries(fields), ...Object.entries(rest)]);

/** The outputs as the state keeps them: `adopt` and `eraseHidden` are about one write and are not kept. */
export const joinOutputs = (properties: Properties): JsonObject => {
  const { fields, told, adopt: _, eraseHidden: __, ...rest } = properties;
  return objectOf([...Object.entries(fields), ...Object.entries(rest), ...Object.entries(told)]);
};
