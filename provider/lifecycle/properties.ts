import { isObject, type JsonObject, objectOf } from "../definition/json.js";

/** A resource's values: the fields of its kind, and what every resource takes besides. */
export interface Properties {
  readonly fields: JsonObject;
  /** `<project>/<stack>/<random>/<logical name>`: whose the object is. */
  readonly owner?: string;
  /** Take over an existing object: the one with the unique name, or the one with this id. */
  readonly adopt?: true | string;
  /** Further members of the service's JSON. */
  readonly extra?: JsonObject;
  /** Name of the settings to use. */
  readonly profile?: string;
}

const common = ["owner", "adopt", "extra", "profile"];

/** What the service sets and a program only reads. */
export const outputNames = ["created", "modified"];

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Splits a bag of the engine; what the engine or the service put in besides is left out. */
export const split = (bag: JsonObject): Properties => {
  const { owner, adopt, extra, profile, __provider, id, created, modified, ...others } = bag;
  // Told to the check only.
  const { autoName, extraSecrets, eraseHidden, ...fields } = others;
  return {
    fields,
    ...optional("owner", textOf(owner)),
    ...optional("adopt", adopt === true ? adopt : textOf(adopt)),
    ...optional("extra", isObject(extra) ? extra : undefined),
    ...optional("profile", textOf(profile)),
  };
};

const optional = <K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: T };

/** The bag of the engine. `adopt` is about one creation and is not kept with the outputs. */
export const join = (properties: Properties, keepAdopt = false): JsonObject =>
  objectOf([
    ...Object.entries(properties.fields),
    ...common
      .filter((name) => name !== "adopt" || keepAdopt)
      .map((name) => [name, (properties as unknown as JsonObject)[name]] as const),
  ]);
