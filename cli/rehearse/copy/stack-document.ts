import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { printedJson } from "../../../provider/stacks/pulumi-queries.js";

/** What `pulumi stack export --show-secrets` prints. */
export interface StackDocument {
  readonly version: number;
  readonly deployment: JsonObject;
}

/** Pulumi's own form of a secret in a state: `plaintext` or `ciphertext` is the JSON text of the value. */
const signature = "4dabf18193072939515e22adb298388d";
const secretKind = "1b47061264138c4ac30d75fd1eb44270";

/** Reads a state that was exported; undefined where the text is none. */
export const stackDocumentIn = (text: string): StackDocument | undefined => {
  const document = printedJson(text);
  if (!isObject(document) || !isObject(document.deployment)) return undefined;
  return { version: Number(document.version ?? 3), deployment: document.deployment };
};

/** The resources of a state. */
export const resourcesIn = ({ deployment }: StackDocument): readonly JsonObject[] =>
  Array.isArray(deployment.resources) ? deployment.resources.filter(isObject) : [];

type ChangeSecret = (plaintext: string) => unknown;

/** A value of a state with every secret that is in clear changed into something else. */
const withSecrets = (value: unknown, change: ChangeSecret): unknown => {
  if (Array.isArray(value)) return value.map((item) => withSecrets(item, change));
  if (!isObject(value)) return value;
  if (value[signature] === secretKind)
    return typeof value.plaintext === "string" ? change(value.plaintext) : value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withSecrets(member, change)]),
  );
};

/** A value of a state as a program knows it: secrets as what they are. */
export const plainValue = (value: unknown): unknown =>
  withSecrets(value, (plaintext) => printedJson(plaintext));

/** A value of a state with its secrets encrypted by another key. */
export const encryptedValue = (value: unknown, encrypt: (text: string) => string): unknown =>
  withSecrets(value, (plaintext) => ({ [signature]: secretKind, ciphertext: encrypt(plaintext) }));
