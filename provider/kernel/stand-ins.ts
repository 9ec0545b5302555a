import { isObject, type JsonObject, jsonIn, objectOf } from "./json.js";

/**
 * The engine's notation for a value, of any type and at any depth, that is unknown before the
 * update. Pulumi publishes it as `pulumi.runtime.unknownValue`; it is repeated here so that the
 * provider does not have to load the SDK for one constant.
 */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretKind = "1b47061264138c4ac30d75fd1eb44270";

/**
 * The signature of the engine's own form of a secret. A secret in that form also contains `value`
 * in a call, and `plaintext` (JSON) or `ciphertext` in a state. Pulumi publishes the signature as
 * `pulumi.runtime.specialSigKey` and `specialSecretSig`; it is repeated here so that the provider
 * does not have to load the SDK.
 */
export const secretSignature: JsonObject = { [signatureKey]: secretKind };

/** Whether a value is a secret in the engine's own form. */
export const isSecretValue = (value: unknown): value is JsonObject =>
  isObject(value) && value[signatureKey] === secretKind;

/** Whether a value is unknown or contains an unknown value at any depth. */
export const holdsUnknown = (value: unknown): boolean =>
  typeof value === "string"
    ? value.includes(unknownValue)
    : Array.isArray(value)
      ? value.some(holdsUnknown)
      : isObject(value) && Object.values(value).some(holdsUnknown);

/**
 * The placeholder in the state for a secret that an import did not read, because the service hides
 * it or it must not be written to a file. It counts as equal to the first value that the program
 * sets, and is never sent. This placeholder must never change, because state files contain it.
 */
export const undisclosed = "(secret not read by the import)";

/** Whether a value is undisclosed or contains an undisclosed value at any depth. */
export const holdsUndisclosed = (value: unknown): boolean =>
  value === undisclosed ||
  (Array.isArray(value) && value.some(holdsUndisclosed)) ||
  (isObject(value) && Object.values(value).some(holdsUndisclosed));

/** A secret that exists only in an environment variable. */
export interface EnvironmentSecret {
  /** Name of the variable. */
  readonly name: string;
  /** Version of the value, which changes whenever the value does. */
  readonly version: string;
  /** The placeholder for the value. */
  readonly text: string;
}

const variable = /^[A-Za-z_]\w{0,254}$/;

const versionText = /^[\w.-]{1,64}$/;

const places = /\$\{fromEnv ([A-Za-z_]\w{0,254}) ([\w.-]{1,64})\}/g;

/**
 * Returns the reason why the variable name or the version is invalid; undefined if both are valid.
 */
export const environmentSecretFault = (name: string, version: string): string | undefined => {
  if (!variable.test(name))
    return "the name must consist of letters, digits, and _, and must not start with a digit";
  return versionText.test(version)
    ? undefined
    : "the version, such as { version: 1 }, must be 1 to 64 letters, digits, dots, _, or -; change it whenever the value changes";
};

/** Returns the placeholder that represents the value in a program and its state. */
export const environmentSecretText = (name: string, version: string): string =>
  `\${fromEnv ${name} ${version}}`;

/** Every text inside a value. */
const leaves = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  return isObject(value) ? Object.values(value).flatMap(leaves) : [];
};

/** Returns every environment secret inside a value, at any depth. */
export const environmentSecretsIn = (value: unknown): readonly EnvironmentSecret[] =>
  leaves(value).flatMap((leaf) =>
    [...leaf.matchAll(places)].map(([text, name = "", version = ""]) => ({ name, version, text })),
  );

/**
 * Converts paths to secrets inside a member's value into paths that start with the member. If the
 * member's name is empty or contains a dot, which would make a path ambiguous, the entire parent is
 * secret.
 */
export const secretPathsBelow = (member: string, inside: readonly string[]): readonly string[] =>
  inside.map((path) => {
    if (member === "" || member.includes(".")) return "";
    return path ? `${member}.${path}` : member;
  });

/** The value of a secret; undefined if its placeholder stays. */
type ValueOf = (secret: EnvironmentSecret) => string | undefined;

/**
 * Returns a function that looks up environment secrets in the given variables; by default, in those
 * of this process.
 */
export const seenSecrets =
  ({
    environment = process.env,
  }: {
    readonly environment?: Readonly<Record<string, string | undefined>>;
  }): ValueOf =>
  ({ name }) =>
    environment[name] || undefined;

/** Returns the reason why a secret cannot be used: its environment variable is not set. */
export const missingText = ({ name, version }: EnvironmentSecret): string =>
  `one of its secrets comes from the environment variable ${name} (version ${version}), which is not set`;

const inText = (text: string, lookUp: ValueOf): string => {
  if (!text.includes("${fromEnv ")) return text;
  // Inside JSON the value must be escaped as JSON requires.
  const json = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
  if (json !== undefined) return JSON.stringify(withEnvironmentSecrets(json, lookUp));
  return text.replace(
    places,
    (whole, name: string, version: string) => lookUp({ name, version, text: whole }) ?? whole,
  );
};

/**
 * Returns a value with secrets from the environment filled in, even within strings and JSON text.
 * Placeholders without a value remain.
 */
export const withEnvironmentSecrets = <T>(value: T, lookUp: ValueOf): T => {
  const change = (part: unknown): unknown => {
    if (typeof part === "string") return inText(part, lookUp);
    if (Array.isArray(part)) return part.map(change);
    if (!isObject(part)) return part;
    return objectOf(Object.entries(part).map(([key, of]) => [key, change(of)]));
  };
  return change(value) as T;
};
