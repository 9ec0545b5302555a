import { ConversationError } from "../../../provider/kernel/errors.js";
import {
  type SettingKey,
  type Settings,
  settingTable,
} from "../../../provider/service/settings/setting-table.js";
import { readSettings, settingNames } from "../../../provider/service/settings/settings.js";
import { prepared } from "../caller-input.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that only resources need. */
const resourceOnly = ["ownershipMark", "put"] as const;

type ResourceOnly = (typeof resourceOnly)[number];

/**
 * How to reach the service: the same settings as the resources have, as an object. What is left out
 * is read from the environment, such as `CONVERSATION_BASE_URL` (with `profile: "staging"` from
 * `CONVERSATION_STAGING_BASE_URL`).
 */
export type ConnectionSettings = {
  readonly [K in Exclude<keyof Settings, ResourceOnly>]?: Settings[K] | undefined;
};

/**
 * A running emulator, as `startEmulator` gives it, or the first line of `emulator --json`: whatever
 * it tells beside the settings is left alone.
 */
export interface RunningEmulator
  extends Readonly<Record<"baseUrl" | "tokenUrl" | "clientId" | "clientSecret", string>> {
  /** Where an emulator is controlled: nothing else has such an address. */
  readonly controlUrl: string;
}

/** Whether these are the addresses of an emulator. */
export const isEmulator = (given: ConnectionSettings | RunningEmulator): given is RunningEmulator =>
  "controlUrl" in given && typeof given.controlUrl === "string";

type RuntimeKey = Exclude<SettingKey, ResourceOnly>;

const isKey = (name: string): name is RuntimeKey =>
  Object.hasOwn(settingTable, name) && !resourceOnly.some((other) => other === name);

const keys: readonly RuntimeKey[] = Object.keys(settingTable).filter(isKey);

const invalid = (text: string): ConversationError =>
  new ConversationError("SETTINGS_INVALID", `Could not connect: ${text}`);

const assertKnown = (given: ConnectionSettings | RunningEmulator): void => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid("the settings must be an object. Nothing was sent.");
  }
  if ("profile" in given && given.profile !== undefined && typeof given.profile !== "string") {
    throw invalid("profile must be text. Nothing was sent.");
  }
  if (isEmulator(given)) return;
  const unknown = Object.keys(given).filter((name) => name !== "profile" && !isKey(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => JSON.stringify(name)).join(", ");
  throw invalid(
    `there is no setting ${names}. Nothing was sent. Settings: ${keys.join(", ")}, profile.`,
  );
};

const textOf = (key: SettingKey, value: unknown): string => {
  if (typeof value === "string" || typeof value === "number") return `${value}`;
  throw invalid(`${key} must be text or a number. Nothing was sent.`);
};

/** The settings as the environment would hold them: what is given wins. */
const asEnvironment = (given: ConnectionSettings, environment: Environment): Environment =>
  Object.fromEntries(
    keys.map((key) => {
      const name = settingNames(key, given.profile).environment;
      const value: unknown = given[key];
      return [name, value === undefined || value === null ? environment[name] : textOf(key, value)];
    }),
  );

interface Problem {
  readonly isMissing: boolean;
  readonly line: string;
}

const problemsIn = (environment: Environment, profile?: string): readonly Problem[] =>
  keys.flatMap((key): Problem | readonly [] => {
    const { required, secret, parse } = settingTable[key];
    const name = settingNames(key, profile).environment;
    const text = environment[name] ?? "";
    if (text.trim() === "") {
      const line = `  ${key} is missing: give it to connect, or set ${name}`;
      return required ? { isMissing: true, line } : [];
    }
    const parsed = parse(secret ? text : text.trim());
    return "value" in parsed ? [] : { isMissing: false, line: `  ${key} (${name}) ${parsed.rule}` };
  });

/**
 * Checks the settings; does no I/O.
 *
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with every rule that is broken;
 * values are never shown
 */
export const runtimeSettings = (
  settings: ConnectionSettings | RunningEmulator = {},
  environment: Environment = process.env,
): Settings =>
  prepared("connect", () => {
    assertKnown(settings);
    const given: ConnectionSettings = settings;
    const texts = asEnvironment(given, environment);
    const problems = problemsIn(texts, given.profile);
    if (problems.length > 0) {
      throw new ConversationError(
        problems.some(({ isMissing }) => isMissing) ? "SETTINGS_MISSING" : "SETTINGS_INVALID",
        [
          "Could not connect: the settings cannot be used. Nothing was sent.",
          ...problems.map(({ line }) => line),
        ].join("\n"),
      );
    }
    return readSettings({ environment: texts, config: () => undefined }, given.profile);
  });

/** The vendor's own word: what is given, else the environment's, else `platform`. */
export const platformNameOf = (given: string | undefined): string => {
  const { parse, default: fallback = "platform" } = settingTable.platformName;
  const text = given ?? process.env[settingNames("platformName").environment];
  if (text !== undefined && typeof text !== "string") {
    throw new ConversationError("SETTINGS_INVALID", "platformName must be text.");
  }
  if (text === undefined || text.trim() === "") return fallback;
  const parsed = parse(text.trim());
  if ("value" in parsed) return parsed.value;
  throw new ConversationError("SETTINGS_INVALID", `platformName ${parsed.rule}.`);
};
