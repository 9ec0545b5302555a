import { ConversationError } from "../kernel/errors.js";
import { ownCommand } from "../kernel/package.js";
import { nearestHint, quoted } from "../kernel/text.js";
import { addressRule, broken, type Parsed, tokenAddress, value } from "./addresses.js";
import { defaultScopes } from "./operations.js";
import { type Plan, plans } from "./plans.js";

/** Version of the service that this package talks to (specification §9). */
const version = "v3";

/** The base URL without a trailing slash. */
const baseAddress = (text: string): Parsed<string> => {
  const url = URL.parse(text);
  const rule = addressRule(url);
  if (!url || rule) return broken(rule ?? "must be a URL");
  if (url.search !== "" || text.includes("?")) return broken('must not contain "?"');
  const path = url.pathname.replace(/\/$/, "");
  if (!path.endsWith(`/${version}`))
    return broken(`must end with the version segment /${version}, the version that is supported`);
  return /\/\/|%/.test(path)
    ? broken('must have a path without "//" or "%"')
    : value(url.origin + path);
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

const profileName = /^[A-Za-z][A-Za-z0-9_-]*$/;

/**
 * Rejects an invalid profile name.
 *
 * @throws ConversationError `SETTINGS_INVALID`
 */
const assertProfile = (profile: string | undefined): void => {
  if (profile === undefined || (profile.length <= 64 && profileName.test(profile))) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `${quoted(profile)} is not a valid profile name: use up to 64 letters, digits, "_", and "-", starting with a letter.`,
  );
};

/** The account name for an explicit provider of the plugin: a name that no profile can have. */
export const providerAccount = (name: string): string => `provider ${name}`;

/**
 * Whether an account belongs to an explicit provider. Such an account's settings have no names in
 * the configuration or environment.
 */
export const isProviderAccount = (account: string | undefined): boolean =>
  account?.startsWith(providerAccount("")) === true;

/** Returns the account's name for messages, such as `profile eu` or `provider us`. */
export const accountTitle = (account: string): string =>
  isProviderAccount(account) ? account : `profile ${account}`;

/**
 * The prefix of a profile's environment variables, such as `CONVERSATION_MY_EU_`; `CONVERSATION_`
 * if there is no profile.
 */
export const profilePrefix = (profile?: string): string => {
  if (!isProviderAccount(profile)) assertProfile(profile);
  const word = profile === undefined ? "" : `${profile.toUpperCase().replaceAll("-", "_")}_`;
  return `CONVERSATION_${word}`;
};

/**
 * Refuses a profile that shares its environment variables with another, as `my-eu` does with
 * `my_eu`: each would silently use the other's account.
 *
 * @param others profiles already in use; may include the same name
 * @throws ConversationError `SETTINGS_INVALID` that names both profiles
 */
export const assertDistinctProfiles = (
  profile: string | undefined,
  others: Iterable<string | undefined>,
): void => {
  const prefix = profilePrefix(profile);
  const sameName = [...others].find(
    (other) => other !== profile && profilePrefix(other) === prefix,
  );
  if (sameName === undefined) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `The profiles ${JSON.stringify(sameName)} and ${JSON.stringify(profile)} would both use ${prefix}BASE_URL and so on. Nothing was sent. Rename one of them so that the names differ in more than case, "-", and "_".`,
  );
};

/** The sources of settings. The environment takes precedence. */
export interface SettingSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the value for a full configuration key, such as `conversation:baseUrl`, from the
   * stack's configuration.
   */
  readonly config: (key: string) => string | undefined;
  /** The account's name, if the values include an explicit provider's arguments. */
  readonly account?: string;
  /** The stack that a command line names, for the commands in messages. */
  readonly stack?: string | undefined;
}

export interface SettingNames {
  /**
   * Key in the configuration, such as `conversation:baseUrl` or, in a profile,
   * `conversation:staging.baseUrl`.
   */
  readonly config: string;
  /**
   * Environment variable, such as `CONVERSATION_BASE_URL` or, in a profile,
   * `CONVERSATION_STAGING_BASE_URL`.
   */
  readonly environment: string;
}

export const settingKeys = Object.keys(settingTable).filter(
  (key): key is SettingKey => key in settingTable,
);

const specOf = (key: SettingKey): SettingSpec<unknown> => settingTable[key];

/** A setting's names in the configuration and in the environment, for a profile if one is given. */
export const settingNames = (key: SettingKey, profile?: string): SettingNames => ({
  config: `conversation:${profile === undefined ? "" : `${profile}.`}${key}`,
  environment: profilePrefix(profile) + settingTable[key].environment,
});

/**
 * Returns the label for a setting in messages, such as `conversation:scope (CONVERSATION_SCOPE)`.
 */
export const settingLabel = (key: SettingKey, profile?: string): string => {
  if (isProviderAccount(profile)) return `${key} of the ${profile}`;
  const names = settingNames(key, profile);
  return `${names.config} (${names.environment})`;
};

/** Advice for a base URL that does not look like the service's. */
export const addressAdvice = ({ baseUrl, profile }: Settings): string =>
  `Check ${settingLabel("baseUrl", profile)}, whose path is ${quoted(new URL(baseUrl).pathname)}, and run: ${ownCommand("doctor")}`;

const textOf = (source: SettingSource, key: SettingKey, profile?: string): string | undefined => {
  const names = settingNames(key, profile);
  const given = [source.environment[names.environment], source.config(names.config)];
  const text = given.find((candidate) => candidate !== undefined && candidate.trim() !== "");
  return specOf(key).secret ? text : text?.trim();
};

/**
 * Reads one setting, without applying its default; undefined if it is not set.
 *
 * @throws Error if the setting breaks its rule
 */
export const readSetting = <K extends SettingKey>(
  source: SettingSource,
  key: K,
  profile?: string,
): Settings[K] | undefined => {
  const text = textOf(source, key, profile);
  if (text === undefined) return undefined;
  const parsed = settingTable[key].parse(text);
  if ("value" in parsed) return parsed.value;
  throw new Error(`The setting ${settingLabel(key, profile)} ${parsed.rule}.`);
};

/** Returns the command that sets a setting in the configuration, for messages. */
export const configCommand = (key: SettingKey, config: string, stack?: string): string => {
  // Pulumi takes a setting that is only named like a secret for one.
  const plain = /token/i.test(key) ? "--plaintext " : "";
  const option = specOf(key).secret ? "--secret " : plain;
  return `pulumi config set ${option}${config} <value>${stack ? ` --stack ${stack}` : ""}`;
};

/** The only scope that a commercial tenant has (vendor's description). */
export const commercialScope = (baseUrl: string): string =>
  `https://${new URL(baseUrl).host}/auth/.default`;

const missingLine = (
  { account, stack }: SettingSource,
  key: SettingKey,
  profile?: string,
): string => {
  const { environment, config } = settingNames(key, profile);
  if (account !== undefined)
    return `  ${key} is missing: set it in the program, as an argument of the ${accountTitle(account)}, or set ${environment}`;
  return `  ${key} is missing: set ${environment}, or run: ${configCommand(key, config, stack)}`;
};

const isComplete = (values: Partial<Settings>): values is Settings =>
  settingKeys.every((key) => {
    const { required, default: fallback } = specOf(key);
    return values[key] !== undefined || (!required && fallback === undefined);
  });

/** The result for one setting: a value, nothing, or a rule that the text breaks. */
interface SettingResult {
  readonly key: SettingKey;
  readonly value?: unknown;
  readonly missing?: string;
  readonly invalid?: string;
}

const readOne = (source: SettingSource, key: SettingKey, profile?: string): SettingResult => {
  const { parse, required, default: fallback } = specOf(key);
  const text = textOf(source, key, profile);
  if (text === undefined) {
    return required
      ? { key, missing: missingLine(source, key, profile) }
      : { key, value: fallback };
  }
  const parsed = parse(text);
  if ("value" in parsed) return { key, value: parsed.value };
  return { key, invalid: `  ${settingLabel(key, profile)} ${parsed.rule}` };
};

const assertComplete = (results: readonly SettingResult[], profile?: string): void => {
  const missing = results.flatMap((result) => result.missing ?? []);
  const invalid = results.flatMap((result) => result.invalid ?? []);
  if (missing.length + invalid.length === 0) return;
  const where = profile === undefined ? "" : ` of ${accountTitle(profile)}`;
  throw new ConversationError(
    missing.length > 0 ? "SETTINGS_MISSING" : "SETTINGS_INVALID",
    [
      invalid.length > 0
        ? `The settings${where} are not valid. Nothing was sent.`
        : `Settings${where} are missing. Nothing was sent.`,
      ...missing,
      ...invalid,
      ...(missing.length > 0
        ? [`Or run the command against an emulator: ${ownCommand("emulator -- <command>")}`]
        : []),
    ].join("\n"),
  );
};

/**
 * Reads and checks every setting. A blank string counts as missing.
 *
 * @param profile `staging` reads `CONVERSATION_STAGING_BASE_URL`, `conversation:staging.baseUrl`,
 * and so on; a profile inherits nothing from the default settings
 * @throws ConversationError `SETTINGS_MISSING` with every missing setting and how to set it, or
 * `SETTINGS_INVALID` with every setting that breaks a rule. Values are hidden, except a wrong word
 * for a setting with a few valid words.
 */
export const readSettings = (source: SettingSource, profile?: string): Settings => {
  assertProfile(profile);
  const results = settingKeys.map((key) => readOne(source, key, profile));
  assertComplete(results, profile ?? source.account);
  const found = results.filter(({ value }) => value !== undefined);
  const values: Partial<Settings> = {
    ...Object.fromEntries(found.map(({ key, value }) => [key, value])),
    ...(profile === undefined ? {} : { profile }),
  };
  if (isComplete(values)) return values;
  throw new ConversationError("SETTINGS_INVALID", "The settings are incomplete.");
};

const secretNames = settingKeys
  .filter((key) => specOf(key).secret)
  .map((key) => settingTable[key].environment);

const secretVariable = new RegExp(`^CONVERSATION_(?:.+_)?(?:${secretNames.join("|")})$`);

/**
 * The environment for programs that fetch, install, or build packages. They may run third-party
 * scripts, which must not see any account or stack secrets.
 */
export const environmentOfPackages = <T>(
  environment: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) =>
        !secretVariable.test(name) && !/^PULUMI_(ACCESS_TOKEN$|CONFIG_PASSPHRASE)/.test(name),
    ),
  );

/** A setting as docs and environment checks show it. */
export interface SettingDescription extends SettingNames {
  readonly key: SettingKey;
  readonly doc: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** The default as a string; absent if there is none. */
  readonly default?: string;
}

/** Every setting with its names, in the order of the table. */
export const describeSettings = (profile?: string): readonly SettingDescription[] =>
  settingKeys.map((key) => {
    const { doc, required = false, secret = false, default: fallback } = specOf(key);
    return {
      key,
      ...settingNames(key, profile),
      doc,
      required,
      secret,
      ...(fallback === undefined ? {} : { default: String(fallback) }),
    };
  });
