import { type SettingKey, settingTable } from "../../provider/service/settings/setting-table.js";
import type {
  SettingDescription,
  SettingSource,
} from "../../provider/service/settings/settings.js";
import { type CheckResult, fail, ok, skipped } from "./check.js";

interface Found {
  readonly text: string;
  readonly from: string;
}

const find = (setting: SettingDescription, source: SettingSource): Found | undefined => {
  const candidates = [
    { text: source.environment[setting.environment], from: setting.environment },
    { text: source.config(setting.config), from: `the stack's ${setting.config}` },
  ];
  return candidates.find((candidate): candidate is Found => !!candidate.text?.trim());
};

const howToSet = ({ environment, config, secret }: SettingDescription): string =>
  `Set ${environment}, or run: pulumi config set ${secret ? "--secret " : ""}${config} <value>`;

const ruleBroken = (key: SettingKey, text: string): string | undefined => {
  const parsed = settingTable[key].parse(text.trim());
  return "rule" in parsed ? parsed.rule : undefined;
};

const SHOWN_DEFAULT = 40;

const unset = (name: string, setting: SettingDescription): CheckResult => {
  if (setting.required) return fail(name, "missing", howToSet(setting));
  const { default: fallback } = setting;
  if (fallback === undefined) return ok(name, "not set");
  return ok(
    name,
    `not set; default: ${fallback.length > SHOWN_DEFAULT ? "a longer text" : fallback}`,
  );
};

/** One setting: is it there, where from, is it well formed? Values of secrets are not shown. */
export const checkSetting = (setting: SettingDescription, source: SettingSource): CheckResult => {
  const name = `setting:${setting.key}`;
  const found = find(setting, source);
  if (!found) return unset(name, setting);
  const rule = ruleBroken(setting.key, found.text);
  if (rule !== undefined) return fail(name, `from ${found.from}: ${rule}`, howToSet(setting));
  const shown = setting.secret ? "hidden" : found.text.trim();
  return ok(name, `${shown} (from ${found.from})`);
};

/** The end of the base address, which picks the version of the service (specification §9). */
export const checkVersionSegment = (
  baseUrl: SettingDescription,
  source: SettingSource,
): CheckResult => {
  const name = "version-segment";
  const found = find(baseUrl, source);
  if (!found) return skipped(name, "no base address");
  const rule = ruleBroken("baseUrl", found.text);
  if (rule !== undefined) return fail(name, `baseUrl ${rule}`, howToSet(baseUrl));
  return ok(
    name,
    `${found.text.trim().replace(/^.*\/(?=[^/])|\/$/g, "")}, the version this package talks to`,
  );
};
