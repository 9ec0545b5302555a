import { nearestHint, quoted } from "../kernel/text.js";
import { defaultScopes } from "./operations.js";
import { type Plan, plans } from "./plans.js";

/**
 * The result of parsing a setting: its value, or the rule that the string breaks. A message shows
 * the string itself only if the setting has a fixed set of words, because such a setting is never
 * secret.
 */
export type Parsed<T> = { readonly value: T } | { readonly rule: string };

const value = <T>(parsed: T): Parsed<T> => ({ value: parsed });

const broken = (rule: string): Parsed<never> => ({ rule });

/** Version of the service that this package talks to (specification §9). */
const version = "v3";

/** Whether a host name refers to this machine: `localhost`, 127.0.0.0/8, or ::1. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);

const addressRule = (url: URL | null): string | undefined => {
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "must be a URL that starts with https://";
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must start with https://; http:// is allowed only for this machine (localhost, 127.0.0.1, [::1])";
  }
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return 'must not contain "#"';
  return undefined;
};

const versionRule = (segment: string): string | undefined => {
  if (segment === version) return undefined;
  if (/^v\d{1,3}$/i.test(segment)) {
    return `specifies version ${segment} of the service, but this package supports ${version}: the URL must end with /${version}`;
  }
  return `must end with the version segment /${version}`;
};

/** The base URL without a trailing slash. */
const baseAddress = (text: string): Parsed<string> => {
  const url = URL.parse(text);
  const rule = addressRule(url);
  if (!url || rule) return broken(rule ?? "must be a URL");
  if (url.search !== "" || text.includes("?")) return broken('must not contain "?"');
  const path = url.pathname.replace(/\/$/, "");
  const wrong = versionRule(path.slice(path.lastIndexOf("/") + 1));
  if (wrong) return broken(wrong);
  return /\/\/|%/.test(path)
    ? broken('must have a path without "//" or "%"')
    : value(url.origin + path);
};

export const tokenAddress = (text: string): Parsed<string> => {
  const url = URL.parse(text);
  const rule = addressRule(url);
  return !url || rule ? broken(rule ?? "must be a URL") : value(url.href);
};

/** Any text without control characters. */
const printableText = (text: string): Parsed<string> =>
  /\p{Cc}/u.test(text)
    ? broken("must not contain control characters, such as a line break at the end")
    : value(text);

/** Scopes separated by single spaces. */
const scopeList = (text: string): Parsed<string> =>
  printableText(text.split(/\s+/).filter(Boolean).join(" "));

const wordRule = (words: readonly string[], text: string): string => {
  return `must be one of: ${words.join(", ")}, not ${quoted(text)}${nearestHint(text, words)}`;
};

/** One of a few words, in any case. Not for secrets: the rule shows the given text. */
const oneOf =
  <T extends string>(words: readonly T[]) =>
  (text: string): Parsed<T> => {
    const found = words.find((word) => word === text.toLowerCase());
    return found ? value(found) : broken(wordRule(words, text));
  };

export const plan = oneOf(plans);

const wholeNumber = (text: string): Parsed<number> =>
  /^[1-9]\d{0,8}$/.test(text)
    ? value(Number(text))
    : broken("must be a whole number of at least 1");

const fraction = (text: string): Parsed<number> => {
  const parsed = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  return parsed > 0 && parsed <= 1 ? value(parsed) : broken("must be greater than 0 and at most 1");
};

export const redisAddress = (text: string): Parsed<string> =>
  /^rediss?:\/\/./.test(text) && URL.canParse(text)
    ? value(text)
    : broken("must be a URL that starts with redis:// or rediss://");

const lowerCaseWord = (text: string): Parsed<string> =>
  /^[a-z][a-z0-9]*$/.test(text)
    ? value(text)
    : broken("must consist of lowercase letters and digits, starting with a letter");

/**
 * Everything that a program or its environment can configure. For rules and defaults, see
 * {@link settingTable}.
 */
export interface Settings {
  /** Base URL without a trailing slash; ends with the version segment. */
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requested scopes, separated by spaces. */
  readonly scope: string;
  /** The tenant's plan. Absent if unknown. */
  readonly plan?: Plan;
  /** Number of calls that every endpoint allows in a short burst. Absent: those of the plan. */
  readonly burst?: number;
  /** Fraction of each rate limit that may be used: greater than 0, at most 1. */
  readonly share: number;
  readonly redisUrl?: string;
  /** The vendor's own word for `platform` on the wire. */
  readonly platformName: string;
  readonly ownershipMark: "description" | "none";
  /** How this tenant's PUT treats omitted members. Absent if unknown. */
  readonly put?: "keep" | "replace";
  /** Name of the profile for these settings. Absent for the default settings. */
  readonly profile?: string;
}

export type SettingKey = Exclude<keyof Settings, "profile">;

/** One row in the settings table. */
export interface SettingSpec<T> {
  /** Last part of the environment variable's name, such as `BASE_URL`. */
  readonly environment: string;
  readonly doc: string;
  readonly parse: (text: string) => Parsed<T>;
  readonly required?: true;
  /** Whether the value is secret: never shown, and encrypted in the stack's configuration. */
  readonly secret?: true;
  readonly default?: T;
  /** Present if the value is a number: whether it can be any number or only a whole one. */
  readonly number?: "any" | "whole";
}

type SettingTable = { readonly [K in SettingKey]: SettingSpec<NonNullable<Settings[K]>> };

/** Every setting, in the order used in docs and messages. */
export const settingTable: SettingTable = {
  baseUrl: {
    environment: "BASE_URL",
    doc: "Base URL of the service. Ends with the version segment `v3`. Must use `https:`, except on this machine.",
    parse: baseAddress,
    required: true,
  },
  tokenUrl: {
    environment: "TOKEN_URL",
    doc: "Token URL for the client credentials grant. Must use `https:`, except on this machine.",
    parse: tokenAddress,
    required: true,
  },
  clientId: {
    environment: "CLIENT_ID",
    doc: "ID of the client that calls the service, from whoever manages your tenant at the vendor; no `ClientApplication` of a program.",
    parse: printableText,
    required: true,
  },
  clientSecret: {
    environment: "CLIENT_SECRET",
    doc: "Secret of the client that calls the service.",
    parse: printableText,
    required: true,
    secret: true,
  },
  scope: {
    environment: "SCOPE",
    doc: "Scopes to request, separated by spaces; for a commercial tenant, exactly `https://<API host>/auth/.default`.",
    parse: scopeList,
    default: defaultScopes.join(" "),
  },
  plan: {
    environment: "PLAN",
    doc: "The tenant's plan: `developer`, `basic`, or `enterprise` (case-insensitive). Determines the rate of each endpoint.",
    parse: plan,
  },
  burst: {
    environment: "BURST",
    doc: "Number of calls that every endpoint allows in a short burst, if the tenant's differ from the plan's: a whole number of at least 1.",
    parse: wholeNumber,
    number: "whole",
  },
  share: {
    environment: "SHARE",
    doc: "Fraction of each rate limit that this tool may use: greater than 0, at most 1.",
    parse: fraction,
    number: "any",
    default: 1,
  },
  redisUrl: {
    environment: "REDIS_URL",
    doc: "Redis URL for sharing the rate limits between processes and machines: `redis:` or `rediss:`.",
    parse: redisAddress,
    // Such an address often carries a password.
    secret: true,
  },
  platformName: {
    environment: "PLATFORM_NAME",
    doc: "The vendor's own word, which replaces `platform` in identifiers such as `platform_bot`.",
    parse: lowerCaseWord,
    default: "platform",
  },
  ownershipMark: {
    environment: "OWNERSHIP_MARK",
    doc: "Where an object carries its stack's mark: in its `description`, or nowhere (`none`).",
    parse: oneOf(["description", "none"]),
    default: "description",
  },
  put: {
    environment: "PUT",
    doc: "What this tenant's PUT does to omitted members: `keep` or `replace` (assumed if not set). A run refuses a PUT that could erase something that the service hides.",
    parse: oneOf(["keep", "replace"]),
  },
};
