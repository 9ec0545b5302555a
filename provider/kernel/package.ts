import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConversationError, type ConversationErrorCode } from "./errors.js";
import {
  filledTexts,
  isObject,
  type JsonObject,
  parseJson,
  textAt,
  withoutUndefined,
} from "./json.js";

export const packageName = "pulumi-conversation";

/** Returns the package.json in a folder; undefined if it is absent or cannot be read. */
export const manifestOf = (folder: string): JsonObject | undefined => {
  try {
    const content = parseJson(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
};

/** The package.json of this package in a folder; undefined if there is none. */
const manifestIn = (folder: string): JsonObject | undefined => {
  const manifest = manifestOf(folder);
  return manifest?.name === packageName ? manifest : undefined;
};

/**
 * The same source runs from its own folder and from `dist`, so parent folders are searched for the
 * file.
 */
const rootAbove = (folder: string): string | undefined => {
  if (manifestIn(folder)) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : rootAbove(parent);
};

/** Returns this package's folder, whether the package runs compiled or from source. */
export const packageRoot = (): string => {
  const root = rootAbove(__dirname);
  if (root === undefined)
    throw new Error(`Could not find the package.json of ${packageName} above ${__dirname}.`);
  return root;
};

let known: JsonObject | undefined;

/** Members of this package's package.json; none if that file cannot be found. */
const manifest = (): JsonObject => {
  if (known !== undefined) return known;
  const root = rootAbove(__dirname);
  known = (root === undefined ? undefined : manifestIn(root)) ?? {};
  return known;
};

/**
 * Returns the version of this package according to its package.json; `0.0.0` if that file cannot be
 * found.
 */
export const packageVersion = (): string => textAt(manifest(), "version") ?? "0.0.0";

const repository = (): string | undefined =>
  textAt(manifest(), "repository", "url")
    ?.replace(/^git\+/, "")
    .replace(/\.git$/, "");

/** Data from this package's package.json. */
export interface PackageDescription {
  readonly version: string;
  /** Description in one or two sentences; empty if the file cannot be found. */
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license?: string;
  readonly homepage?: string;
  /** URL of the repository for a browser, such as `https://host/owner/name`. */
  readonly repository?: string;
}

/**
 * Returns data from this package's package.json; optional values missing from the file are absent.
 */
export const describePackage = (): PackageDescription => ({
  version: packageVersion(),
  description: textAt(manifest(), "description") ?? "",
  keywords: filledTexts(manifest().keywords) ?? [],
  ...withoutUndefined({
    license: textAt(manifest(), "license"),
    homepage: textAt(manifest(), "homepage"),
    repository: repository(),
  }),
});

/**
 * Returns a command of this package as messages show it, such as `npx pulumi-conversation repair`.
 * The name alone works only if `node_modules/.bin` is on PATH.
 */
export const ownCommand = (words: string): string => `npx ${packageName} ${words}`;

/**
 * Returns the location of a documentation page: in the repository at this release if package.json
 * specifies a repository, otherwise in the package's folder, which contains the same pages.
 *
 * @param page such as `policies.md#account-protected`
 */
export const docsLink = (page: string): string => {
  const address = repository();
  return address
    ? `${address}/blob/v${packageVersion()}/docs/${page}`
    : `node_modules/${packageName}/docs/${page}`;
};

/** Returns a sentence that refers to the documentation for a message's code. */
export const moreAbout = (code: ConversationErrorCode): string =>
  `More: ${docsLink(`troubleshooting.md#${code.toLowerCase()}`)}`;

/**
 * Returns a lifecycle failure as users see it: the message, followed by advice and a documentation
 * link.
 */
export const withAdvice = ({ code, message }: ConversationError): string => {
  const more = [
    ...(code === "CANCELLED" ? ["To continue, run the command again."] : []),
    moreAbout(code),
  ];
  // The last of several lines may be a command.
  return message.includes("\n")
    ? [message, ...more].join("\n")
    : [message.replace(/(?<![.!?])$/, "."), ...more].join(" ");
};

/**
 * A bundle may contain a package that cannot be found as a file: then only its use shows whether it
 * is present.
 */
const isMissing = (name: string): boolean => {
  try {
    require.resolve(name);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND";
  }
};

/**
 * Checks for an optional package at startup, because a later failure would look like an outage.
 *
 * @param need what requires it, as the beginning of a sentence
 * @throws ConversationError `SETTINGS_INVALID` if it is not installed
 */
export const assertInstalled = (name: string, need: string): void => {
  if (isMissing(name)) throw notInstalled(name, need);
};

/** Returns the error for an optional package that is required but not installed. */
const notInstalled = (name: string, need: string): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    `${need}, but the package ${name} is not installed. To install it, run: npm install ${name}`,
  );
