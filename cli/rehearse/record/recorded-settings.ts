import { randomBytes, scryptSync } from "node:crypto";
import { z } from "zod";
import type { SettingKey, Settings } from "../../../provider/service/setting-table.js";
import {
  describeSettings,
  type SettingDescription,
  settingLabel,
} from "../../../provider/service/settings.js";
import type { OriginalStack } from "../copy/original-stack.js";
import { type ClientReading, scopesInUse } from "../service/deploying-client.js";
import { knownSwitches } from "../service/emulated-tenant.js";
import { jsonDigest } from "./digest.js";

/** A value that is not to be read: by a digest that takes long to work out, with a salt of its own. */
const hiddenValueSchema = z.strictObject({ salt: z.string(), digest: z.string() });

type HiddenValue = z.infer<typeof hiddenValueSchema>;

/**
 * The settings that decide what a run does, by their names in the configuration, as they resolve from
 * environment, configuration, findings and defaults. Never a secret one.
 */
export const recordedSettingsSchema = z.record(
  z.string(),
  z.union([z.string(), hiddenValueSchema]),
);

export type RecordedSettings = z.infer<typeof recordedSettingsSchema>;

/** A setting as it is now, and how a record holds it. */
interface ResolvedSetting {
  /** As messages name it. */
  readonly label: string;
  readonly text: string;
  /** Whether it is not to be read in a record, although the table of settings calls it public. */
  readonly hidden: boolean;
}

export type ResolvedSettings = ReadonlyMap<string, ResolvedSetting>;

/** An address may carry a key behind `?`. */
const mayCarryKey = (text: string): boolean => URL.canParse(text) && new URL(text).search !== "";

/** What a file of findings says counts, not where it is. */
const textOf = (settings: Settings, { key }: SettingDescription): string | undefined => {
  const value = settings[key];
  if (value === undefined) return undefined;
  return key === "findings" ? jsonDigest(knownSwitches(settings)) : String(value);
};

/** What differs between two clients of one tenant. */
const ofClient: readonly SettingKey[] = ["clientId", "scope"];

/**
 * The settings of every account that a run may reach.
 *
 * @param isOther whether another client deploys than the one that rehearses
 */
export const resolvedSettings = (
  accounts: readonly Settings[],
  { config }: Pick<OriginalStack, "config">,
  isOther = false,
): ResolvedSettings =>
  new Map(
    accounts.flatMap((settings) =>
      describeSettings(settings.profile).flatMap((description) => {
        const text = textOf(settings, description);
        if (text === undefined || description.secret) return [];
        if (isOther && ofClient.includes(description.key)) return [];
        const hidden = config.get(description.config)?.secret === true || mayCarryKey(text);
        const label = settingLabel(description.key, settings.profile);
        return [[description.config, { label, text, hidden }] as const];
      }),
    ),
  );

const digestWith = (salt: string, text: string): string =>
  scryptSync(text, salt, 32).toString("hex");

const hiddenValue = (text: string): HiddenValue => {
  const salt = randomBytes(16).toString("hex");
  return { salt, digest: digestWith(salt, text) };
};

/** Settings as a record holds them. */
export const recordedSettings = (resolved: ResolvedSettings): RecordedSettings =>
  Object.fromEntries(
    [...resolved].map(([name, { text, hidden }]) => [name, hidden ? hiddenValue(text) : text]),
  );

const isSame = (recorded: RecordedSettings[string] | undefined, text: string): boolean => {
  if (recorded === undefined || typeof recorded === "string") return recorded === text;
  return digestWith(recorded.salt, text) === recorded.digest;
};

/** What a value was, where it may be read: findings are a digest, which tells a person nothing. */
const wasText = (name: string, recorded: RecordedSettings[string] | undefined): string => {
  if (recorded === undefined) return ", and was not set";
  return typeof recorded === "string" && !name.endsWith("findings") ? `, and was ${recorded}` : "";
};

const changeText = (
  name: string,
  recorded: RecordedSettings[string] | undefined,
  { label, text, hidden }: ResolvedSetting,
): string => {
  const isShown = !hidden && !name.endsWith("findings");
  const change = isShown ? `${label} is ${text}${wasText(name, recorded)}` : `${label} changed`;
  return name.endsWith("clientId")
    ? `${change} (where another client deploys than the one that rehearses: rehearse --as-scopes)`
    : change;
};

/** Which settings are others than at the rehearsal, each a sentence without its full stop. */
export const settingChanges = (
  recorded: RecordedSettings,
  now: ResolvedSettings,
): readonly string[] => [
  ...[...now].flatMap(([name, setting]) =>
    isSame(recorded[name], setting.text) ? [] : [changeText(name, recorded[name], setting)],
  ),
  ...Object.entries(recorded).flatMap(([name, value]) =>
    now.has(name) ? [] : [`${name} is no longer set${wasText(name, value)}`],
  ),
];

/** Which scopes the client in use lacks of those with which a run was rehearsed, each a sentence. */
export const scopeChanges = (
  asScopes: readonly string[],
  readings: readonly ClientReading[],
): readonly string[] =>
  readings.flatMap((reading) => {
    const { profile } = reading.settings;
    const whose = profile === undefined ? "of these settings" : `of profile ${profile}`;
    const inUse = scopesInUse(reading);
    return asScopes
      .filter((scope) => !inUse.includes(scope))
      .map((scope) => `the client ${whose} lacks ${scope}, with which this was rehearsed`);
  });
