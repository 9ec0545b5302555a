import { ConversationError } from "../kernel/errors.js";
import { filledText, isObject, type JsonObject, jsonIn } from "../kernel/json.js";
import { isLocal } from "./addresses.js";
import {
  accountTitle,
  readSettings,
  type SettingKey,
  type SettingSource,
  type Settings,
  settingNames,
} from "./settings.js";

/**
 * Environment variable that lists what a run on emulators may call: `EmulatedAddresses` as JSON.
 */
export const addressesVariable = "PULUMI_CONVERSATION_ADDRESSES";

/**
 * The settings that a run on an emulator keeps because they determine what it writes. All others
 * come from the emulator, including those that determine where and how fast the run writes.
 */
export const ownSettings = ["platformName", "ownershipMark", "put"] as const;

/**
 * What a run on emulators may call, even if a program or a state sets another URL for a provider.
 */
export interface EmulatedAddresses {
  /** The emulators' URL prefixes. */
  readonly starts: readonly string[];
  /**
   * The settings for reaching each emulator, stored under the emulator's `baseUrl` and also under
   * the `baseUrl` of the account that it represents.
   */
  readonly instead?: Readonly<Record<string, Partial<Record<SettingKey, string>>>>;
  /** Whether the environment and the configuration may point to other servers on this machine. */
  readonly alsoLocal?: true;
}

const isBelow = (address: string, starts: readonly unknown[]): boolean =>
  starts.some((start) => typeof start === "string" && address.startsWith(`${start}/`));

/** What the variable holds; undefined beside no emulator. A text that cannot be read permits nothing. */
const givenAddresses = (): JsonObject | undefined => {
  const given = process.env[addressesVariable];
  if (given === undefined) return undefined;
  const parsed = jsonIn(given);
  return isObject(parsed) ? parsed : {};
};

const insteadOf = (instead: unknown, baseUrl: string): JsonObject | undefined => {
  const values = isObject(instead) ? instead[baseUrl] : undefined;
  return isObject(values) ? values : undefined;
};

/**
 * Returns the base URL that a run on emulators uses for an account: its emulator's URL if it has
 * one, otherwise its own.
 */
export const emulatedAddress = (baseUrl: string): string => {
  return filledText(insteadOf(givenAddresses()?.instead, baseUrl)?.baseUrl) ?? baseUrl;
};

/**
 * Prevents a run on emulators from reaching a real account. If an emulator represents an account,
 * replaces the account's settings with the emulator's, except for `ownSettings`.
 *
 * @param account name of an explicit provider for which the program sets some of the settings
 * @throws ConversationError `SETTINGS_INVALID` if the settings would lead elsewhere
 */
const emulatedSettings = (settings: Settings, account?: string): Settings => {
  const given = givenAddresses();
  if (given === undefined) return settings;
  const { starts, instead, alsoLocal } = given;
  const { baseUrl, tokenUrl, profile } = settings;
  const isExplicit = account !== undefined;
  const isAllowed = (address: string): boolean =>
    isBelow(address, Array.isArray(starts) ? starts : []) ||
    (alsoLocal === true && !isExplicit && isLocal(address));
  const wrong = Object.entries({ baseUrl, tokenUrl }).flatMap(([key, address]) =>
    isAllowed(address) ? [] : [key],
  );
  const values = insteadOf(instead, baseUrl);
  if (values && (isExplicit || wrong.length > 0)) {
    const all: JsonObject = {
      ...values,
      ...Object.fromEntries(ownSettings.map((key) => [key, settings[key]])),
    };
    const text = (key: string) => String(all[key.replace(/^conversation:/, "")] ?? "");
    return { ...readSettings({ environment: {}, config: text }), ...(profile ? { profile } : {}) };
  }
  if (wrong.length === 0) return settings;
  const names = wrong.join(" and ");
  const name = account ?? profile;
  const whose = name === undefined ? "settings" : accountTitle(name);
  const advice = isExplicit
    ? `Remove ${names} from the provider; once the provider is in the state, rehearse replaces its account with an emulator.`
    : `Point ${profile === undefined ? "them" : "the profile"} to an emulator.`;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `${names} of the ${whose} would point to a real account. This run may call only emulators, so nothing was sent there. ${advice}`,
  );
};

/**
 * Keeps an emulator from standing for the account of a stack, whose objects it lacks: a refresh or a
 * deletion would remove them from the state.
 */
const assertNoOtherAccount = ({ config, account }: SettingSource, profile?: string): void => {
  const configured = settingNames("baseUrl", profile).config;
  const address = account === undefined ? config(configured) : undefined;
  if (address === undefined || isLocal(address) || givenAddresses()?.alsoLocal !== true) return;
  throw new ConversationError(
    "SETTINGS_INVALID",
    `the stack's configuration leads to a real account (${configured}), whose objects this emulator lacks. Nothing was sent or changed. Use another stack with the emulator: pulumi stack init <name>.`,
  );
};

/**
 * Reads the settings for an account that is about to be called.
 *
 * @throws ConversationError if one is missing or wrong, or if they would lead a run or a command
 * beside an emulator to another account, or away from that of its stack
 */
export const calledAccount = (source: SettingSource, profile?: string): Settings => {
  assertNoOtherAccount(source, profile);
  return emulatedSettings(readSettings(source, profile), source.account);
};
