import { readFileSync } from "node:fs";
import { ConversationError } from "../../kernel/errors.js";
import { isObject, type JsonObject } from "../../kernel/json.js";
import { jsonIn } from "../../kernel/json-text.js";

/** What was found out about one thing. */
export type FoundValue = string | number | boolean;

/** What `pulumi-conversation probe` found out about a tenant. */
export interface TenantFindings {
  readonly version: 1;
  /** ISO 8601. */
  readonly probedAt: string;
  /** The tenant that it was found out on. */
  readonly baseUrl: string;
  /** Calls that it took. */
  readonly calls: number;
  /** By the names of the emulator's switches. */
  readonly switches: Readonly<Record<string, FoundValue>>;
  /** By the names of settings. */
  readonly settings: Readonly<Record<string, FoundValue>>;
  /** What else was seen. */
  readonly observed: Readonly<Record<string, FoundValue>>;
  /** What could not be found out, and why. */
  readonly open: Readonly<Record<string, string>>;
}

const isValue = (value: unknown): value is FoundValue =>
  ["string", "number", "boolean"].includes(typeof value);

const valuesIn = (value: unknown): Readonly<Record<string, FoundValue>> | undefined =>
  isObject(value) && Object.values(value).every(isValue)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, FoundValue] => isValue(entry[1])),
      )
    : undefined;

const reasonsIn = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(valuesIn(value) ?? {}).map(([name, why]) => [name, `${why}`]));

const textIn = (json: JsonObject, name: string): string | undefined => {
  const value = json[name];
  return typeof value === "string" ? value : undefined;
};

/** The findings that a text holds; undefined where it holds none of this version. */
export const findingsIn = (text: string): TenantFindings | undefined => {
  const json = jsonIn(text);
  if (!isObject(json) || json.version !== 1) return undefined;
  const [probedAt, baseUrl] = [textIn(json, "probedAt"), textIn(json, "baseUrl")];
  const [switches, settings] = [valuesIn(json.switches), valuesIn(json.settings)];
  const observed = valuesIn(json.observed ?? {});
  const calls = typeof json.calls === "number" ? json.calls : 0;
  if (probedAt === undefined || baseUrl === undefined || !switches || !settings || !observed)
    return undefined;
  const open = reasonsIn(json.open ?? {});
  return { version: 1, probedAt, baseUrl, calls, switches, settings, observed, open };
};

/**
 * Reads a file that `pulumi-conversation probe` wrote.
 *
 * @throws ConversationError `SETTINGS_INVALID` where it cannot be read, or holds something else
 */
export const readFindings = (file: string): TenantFindings => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${error.code}` : "no reason given";
    throw new ConversationError(
      "SETTINGS_INVALID",
      `The findings in ${file} could not be read (${code}). Write them with: pulumi-conversation probe --out ${file}`,
    );
  }
  const findings = findingsIn(text);
  if (findings) return findings;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `${file} holds no findings of this release. Write them with: pulumi-conversation probe --out ${file}`,
  );
};
