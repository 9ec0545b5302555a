import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type JsonObject, jsonIn, objectOf } from "./json.js";

// What is Pulumi's: type tokens, URNs and the owners made of them, and the values that stand for others.

/**
 * Returns the type token of a kind's dynamic resources. The token must never change, because state
 * files contain it.
 */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

/**
 * Returns the type token of a kind's resources in the plugin. The token must never change,
 * because state files contain it.
 */
export const pluginToken = (kind: string): string => `conversation:index:${kind}`;

/**
 * Returns the kind in a type token, and whether the resource is dynamic or belongs to the plugin;
 * undefined for other packages. A token of a component in this package looks like a plugin token.
 */
export const tokenParts = (type: string) => {
  const doors = { dynamic: typeToken(""), plugin: pluginToken("") } as const;
  for (const door of ["dynamic", "plugin"] as const)
    if (type.startsWith(doors[door])) return { door, kind: type.slice(doors[door].length) };
  return undefined;
};

/** Returns the kind for a type token of either form; undefined for other packages. */
export const kindOfToken = (type: string): string | undefined => tokenParts(type)?.kind;

/** Type token of the plugin's providers. */
export const providerToken = "pulumi:providers:conversation";

/**
 * Whether a name belongs to a provider that Pulumi creates itself if a program specifies none:
 * `default`, or `default_` and a version (`default_0_1_0`), possibly followed by a download
 * address. A provider with a name such as `default_us` can only come from the program.
 */
export const isDefaultProvider = (name: string): boolean => /^default(_\d+_\d+_\d+|$)/.test(name);

/** The parts of an owner: `<project>/<stack>/<random>/<logical name>`. */
interface OwnerParts {
  readonly project: string;
  readonly stack: string;
  /** `<project>/<stack>/<random>`: the ID of the stack's `Ownership`, or made by the plugin. */
  readonly ownership: string;
  /** The resource's logical name, after the types of its parents. */
  readonly name: string;
}

export const ownerParts = (owner: string): OwnerParts => {
  const [project = "", stack = "", random = "", ...name] = owner.split("/");
  return { project, stack, ownership: `${project}/${stack}/${random}`, name: name.join("/") };
};

/**
 * Returns the owner of a resource.
 *
 * @param parents types of its parents, as {@link parentsIn} returns them
 */
export const ownerOf = (ownership: string, parents: string, name: string): string =>
  `${ownership}/${parents}${name}`;

export const urnOf = (owner: string, type: string): string => {
  const { project, stack, name } = ownerParts(owner);
  const [parents = ""] = /^(?:[^$:]+:[^$:]*:[^$:]+\$)*/.exec(name) ?? [];
  return `urn:pulumi:${stack}::${project}::${parents}${type}::${name.slice(parents.length)}`;
};

/**
 * Returns a logical name in readable form, such as `"shop" (inside ConversationAccount)`.
 *
 * @param name the name of an owner, after the types of its parents
 */
export const readableName = (name: string): string => {
  const [, parent, own] =
    /^(?:[^$:]+:[^$:]*:[^$:]+\$)*[^$:]+:[^$:]*:([^$:]+)\$(.*)$/s.exec(name) ?? [];
  return parent === undefined ? JSON.stringify(name) : `${JSON.stringify(own)} (inside ${parent})`;
};

/** The parts of a URN: `urn:pulumi:<stack>::<project>::<types>::<logical name>`. */
interface UrnParts {
  readonly project: string;
  readonly stack: string;
  /** Types of the parents, outermost first, then the resource's own, separated by `$`. */
  readonly types: string;
  readonly type: string;
  readonly name: string;
}

/** Returns the parts of a URN. A logical name may contain `::`. */
export const urnParts = (urn: string): UrnParts => {
  const start = "urn:pulumi:";
  const parts = urn.startsWith(start) ? urn.slice(start.length).split("::") : [];
  const [stack = "", project = "", types = "", ...name] = parts;
  return { project, stack, types, type: types.split("$").at(-1) ?? "", name: name.join("::") };
};

/**
 * Returns the types of a resource's parents, from its URN, outermost first, each followed by `$`;
 * empty if the resource is directly in the stack.
 */
export const parentsIn = (urn: string): string => {
  const { types, type } = urnParts(urn);
  return types.slice(0, types.length - type.length).replace("pulumi:pulumi:Stack$", "");
};

/**
 * Returns every ownership in a stack: the `Ownership` of its dynamic resources, and the ownership
 * of each of the plugin's providers.
 */
export const ownershipsOf = ({
  ownership,
  pluginOwnerships = [],
}: {
  readonly ownership?: string;
  readonly pluginOwnerships?: readonly string[];
}): readonly string[] => [...new Set([...(ownership ? [ownership] : []), ...pluginOwnerships])];

/**
 * Returns the provider that the state stores for a resource: not code, but a pointer to the
 * installed package that is the same on every machine. `configure` only stores the configuration,
 * synchronously, because the engine's calls do not wait for it. If the package is installed only as
 * a transitive dependency (pnpm), the pointer resolves it from the Pulumi SDK's location.
 *
 * The pointer is short and contains no characters that JSON must escape, because the engine stores
 * it twice for each resource and writes the whole state at every step. It is stored in state files,
 * so pointers from earlier releases must continue to work, and this pointer must work with their
 * `lifecycleOf` from `provider/v1`.
 */
export const pointerTo = (kind: string): string =>
  `exports.handler=()=>{let c,f=require('module').createRequire,s='pulumi-conversation/provider/v1',r=f(process.cwd()+'/');` +
  `try{r.resolve(s)}catch{r=f(process.argv[1])}` +
  `return{...r(s).lifecycleOf('${kind}',{get:k=>c?.get(k)}),configure:async r=>{c=r.config}}}`;

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

/** Returns every environment secret inside a value, at any depth. */
export const environmentSecretsIn = (value: unknown): readonly EnvironmentSecret[] =>
  Array.from((JSON.stringify(value) ?? "").matchAll(places), ([text, name = "", version = ""]) => ({
    name,
    version,
    text,
  }));

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
  if (environmentSecretsIn(value).length === 0) return value;
  const change = (part: unknown): unknown => {
    if (typeof part === "string") return inText(part, lookUp);
    if (Array.isArray(part)) return part.map(change);
    if (!isObject(part)) return part;
    return objectOf(Object.entries(part).map(([key, of]) => [key, change(of)]));
  };
  return change(value) as T;
};

/**
 * Returns the project file that Pulumi uses for a folder, from the folder itself or its nearest
 * parent with one; undefined if there is none.
 */
export const projectFile = (folder: string): string | undefined => {
  const names = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];
  const found = names.map((name) => join(folder, name)).find((path) => existsSync(path));
  const parent = dirname(folder);
  return found ?? (parent === folder ? undefined : projectFile(parent));
};
