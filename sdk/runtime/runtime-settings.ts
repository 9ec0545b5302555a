import { ConversationError } from "../../provider/service/errors.js";
import {
  type SettingKey,
  type Settings,
  settingTable,
} from "../../provider/service/setting-table.js";
import { readSettings, settingNames } from "../../provider/service/settings.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that only resources need. */
type ResourceOnly = "ownershipMark";

/**
 * How to reach the service: the same settings as the resources have, as an object. What is left out
 * is read from the environment, such as `CONVERSATION_BASE_URL` (with `profile: "staging"` from
 * `CONVERSATION_STAGING_BASE_URL`).
 */
export type ConnectionSettings = {
  readonly [K in Exclude<keyof Settings, ResourceOnly>]?: Settings[K] | undefined;
};

const isKey = (name: string): name is SettingKey => Object.hasOwn(settingTable, name);

const keys = (): readonly SettingKey[] =>
  Object.keys(settingTable)
    .filter(isKey)
    .filter((key) => key !== "ownershipMark");

const assertKnown = (given: ConnectionSettings): void => {
  const unknown = Object.keys(given).filter(
    (name) => name !== "profile" && !keys().some((key) => key === name),
  );
  if (unknown.length === 0) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `Could not connect: there is no setting ${unknown.map((name) => JSON.stringify(name)).join(", ")}. Nothing was sent. Settings: ${keys().join(", ")}, profile.`,
  );
};

/** The settings as the environment would hold them: what is given wins. */
const asEnvironment = (given: ConnectionSettings, environment: Environment): Environment => {
  const members: Readonly<Record<string, unknown>> = { ...given };
  return Object.fromEntries(
    keys().map((key) => {
      const name = settingNames(key, given.profile).environment;
      const value = members[key];
      return [name, value === undefined || value === null ? environment[name] : String(value)];
    }),
  );
};

interface Problem {
  readonly code: "SETTINGS_MISSING" | "SETTINGS_INVALID";
  readonly line: string;
}

const problems = (given: ConnectionSettings, environment: Environment): readonly Problem[] =>
  keys().flatMap((key): readonly Problem[] => {
    const name = settingNames(key, given.profile).environment;
    const text = environment[name];
    if (text === undefined || text.trim() === "") {
      if (!settingTable[key].required) return [];
      const line = `  ${key} is missing: give it to connect, or set ${name}`;
      return [{ code: "SETTINGS_MISSING", line }];
    }
    const parsed = settingTable[key].parse(settingTable[key].secret ? text : text.trim());
    if ("value" in parsed) return [];
    return [{ code: "SETTINGS_INVALID", line: `  ${key} (${name}) ${parsed.rule}` }];
  });

/**
 * Checks the settings; does no I/O.
 *
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with every rule that is broken;
 * values are never shown
 */
export const runtimeSettings = (
  given: ConnectionSettings = {},
  environment: Environment = process.env,
): Settings => {
  assertKnown(given);
  const texts = asEnvironment(given, environment);
  const found = problems(given, texts);
  if (found.length > 0) {
    const missing = found.some(({ code }) => code === "SETTINGS_MISSING");
    const lines = found.map(({ line }) => line);
    throw new ConversationError(
      missing ? "SETTINGS_MISSING" : "SETTINGS_INVALID",
      ["Could not connect: the settings cannot be used. Nothing was sent.", ...lines].join("\n"),
    );
  }
  return readSettings({ environment: texts, config: () => undefined }, given.profile);
};

/** The vendor's own word: what is given, else the environment's, else `platform`. */
export const platformNameOf = (
  given: string | undefined,
  environment: Environment = process.env,
): string => {
  const { parse, default: fallback = "platform" } = settingTable.platformName;
  const text = given ?? environment[settingNames("platformName").environment];
  if (text === undefined || text.trim() === "") return fallback;
  const parsed = parse(text.trim());
  if ("value" in parsed) return parsed.value;
  throw new ConversationError("SETTINGS_INVALID", `platformName ${parsed.rule}.`);
};
