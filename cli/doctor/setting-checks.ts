import { z } from "zod";
import { nearestWord } from "../../provider/kernel/text.js";
import {
  configOption,
  type SettingDescription,
  type SettingKey,
  type SettingSource,
  settingTable,
} from "../../provider/service/settings.js";
import { type ConfigEntry, type StackConfig, stackAdvice } from "../pulumi/project-files.js";
import { withCount } from "../terminal/columns.js";

const statuses = ["ok", "warn", "fail", "skipped"] as const;

export type CheckStatus = (typeof statuses)[number];

export const checkSchema = z.strictObject({
  name: z.string().describe("Stable name of the check, such as `node` or `setting:baseUrl`"),
  status: z.enum(statuses),
  message: z.string().describe("The result; never contains a secret"),
  advice: z.string().describe("What to do; empty if there is nothing to do"),
});

/** What one check found. Never holds a secret. */
export type DoctorCheck = Readonly<z.infer<typeof checkSchema>>;

const result =
  (status: CheckStatus) =>
  (name: string, message: string, advice = ""): DoctorCheck => ({ name, status, message, advice });

export const ok = result("ok");
export const warn = result("warn");
export const fail = result("fail");
export const skipped = result("skipped");

const variables = Object.values(settingTable).map(
  ({ environment }) => `CONVERSATION_${environment}`,
);

/**
 * Variables that are nearly those of settings: nothing reads them, and nothing else would report
 * that.
 */
export const checkEnvironmentNames = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const name = "environment";
  const typos = Object.keys(env).flatMap((variable) => {
    const isKnown = !env[variable] || variables.includes(variable);
    const meant = isKnown ? undefined : nearestWord(variable, variables);
    return meant === undefined ? [] : [`${variable} is not a setting: did you mean ${meant}?`];
  });
  if (typos.length === 0) return ok(name, "no misspelled variables");
  return warn(name, typos.join(" "), "Use the correct name.");
};

const howToSet = ({ key, environment, config }: SettingDescription): string =>
  ["Set", `${environment},`, "or run: pulumi config set", configOption(key), config, "<value>"]
    .filter(Boolean)
    .join(" ");

/**
 * One setting: is it set, where does it come from, is it well formed? Values of secrets are not
 * shown.
 */
export const checkSetting = (setting: SettingDescription, source: SettingSource): DoctorCheck => {
  const { key, environment, config, default: fallback } = setting;
  const name = `setting:${key}`;
  const found = [
    { text: source.environment[environment] ?? "", from: environment },
    { text: source.config(config) ?? "", from: `the stack's ${config}` },
  ].find(({ text }) => text.trim() !== "");
  if (!found && setting.required) return fail(name, "missing", howToSet(setting));
  if (!found && fallback === undefined) return ok(name, "not set");
  if (!found) {
    const [first, ...more] = (fallback ?? "").split(" ");
    const others = more.length > 0 ? ` and ${more.length} more` : "";
    return ok(name, `not set; default: ${first}${others}`);
  }
  const { text, from } = found;
  const { parse, secret } = settingTable[key];
  // A secret is taken verbatim, with any space around it.
  const parsed = parse(secret ? text : text.trim());
  if ("rule" in parsed) return fail(name, `from ${from}: ${parsed.rule}`, howToSet(setting));
  return ok(name, `${secret ? "hidden" : text.trim()} (from ${from})`);
};

const settingKeys: readonly string[] = Object.keys(settingTable);

const isSettingKey = (text: string): text is SettingKey => settingKeys.includes(text);

/** A key of our namespace in two parts, such as `conversation:staging.` and `baseUrl`; undefined for others. */
const ownKey = (key: string): { readonly start: string; readonly last: string } | undefined => {
  const [, start, last] = /^(conversation:(?:.*\.)?)([^.]*)$/s.exec(key) ?? [];
  return start === undefined || last === undefined ? undefined : { start, last };
};

/** The setting that a full key such as `conversation:staging.baseUrl` names, if any. */
export const settingFor = (key: string): SettingKey | undefined => {
  const last = ownKey(key)?.last ?? "";
  return isSettingKey(last) ? last : undefined;
};

/**
 * The key that a misspelled one was most likely meant to be: it differs in case and at most two
 * characters.
 */
export const meantKey = (key: string): string | undefined => {
  const own = ownKey(key);
  if (!own || isSettingKey(own.last)) return undefined;
  const meant = nearestWord(own.last, settingKeys);
  return meant && `${own.start}${meant}`;
};

type Entries = StackConfig["entries"];

const forStack = (stack: string | undefined): string => (stack ? ` --stack ${stack}` : "");

/** Keys in our namespace that are no settings, and the settings that were meant. */
export const checkConfigKeys = (entries: Entries, stack?: string): DoctorCheck => {
  const name = "config-keys";
  const keys = [...entries.keys()].filter((key) => ownKey(key) && !settingFor(key));
  const typos = keys.filter((key) => meantKey(key) !== undefined);
  if (typos.length > 0)
    return warn(
      name,
      typos.map((key) => `${key} is not a setting: did you mean ${meantKey(key)}?`).join(" "),
      `Use the correct name, and then run: ${typos
        .map((key) => `pulumi config rm ${key}${forStack(stack)}`)
        .join("; ")}`,
    );
  // A program, or a project called conversation, may keep values of its own there.
  return ok(name, keys.length > 0 ? `ignored (not settings): ${keys.join(", ")}` : "all known");
};

const holdsPassword = (text: string): boolean =>
  !URL.canParse(text) || new URL(text).password !== "";

const isExposed = (key: string, { secret, text = "" }: ConfigEntry): boolean => {
  const setting = settingFor(key);
  if (secret || text.trim() === "" || !setting || !settingTable[setting].secret) return false;
  return setting !== "redisUrl" || holdsPassword(text);
};

/** Secret settings in plain text in the stack's file. */
export const checkConfigSecrets = (entries: Entries, stack?: string): DoctorCheck => {
  const name = "config-secrets";
  const exposed = [...entries].flatMap(([key, entry]) => (isExposed(key, entry) ? [key] : []));
  if (exposed.length === 0) return ok(name, "none in plain text");
  const commands = exposed.map((key) => `pulumi config set --secret ${key}${forStack(stack)}`);
  const secrets = exposed.length === 1 ? "the secret" : "the secrets";
  return warn(
    name,
    `in plain text in the stack's configuration file: ${exposed.join(", ")}`,
    `To encrypt ${secrets}, run: ${commands.join("; ")}. If you shared or committed the file, replace ${secrets}.`,
  );
};

const absentAdvice =
  "Run the command in a Pulumi project folder, with pulumi on PATH. To check only the environment, omit --stack.";

/** The stack's configuration as a whole: was it read, are its keys known, are its secrets encrypted? */
export const checkConfig = (config: StackConfig, stack?: string): readonly DoctorCheck[] => {
  const name = "stack-config";
  const { absent, unread, entries } = config;
  // Someone who names a stack wants to know about that stack: the environment alone is no answer.
  const missing = stack === undefined ? warn : fail;
  if (absent !== undefined && stack === undefined)
    return [skipped(name, `${absent}: only the environment was checked`)];
  if (absent !== undefined)
    return [fail(name, `cannot read the stack ${stack}: ${absent}`, absentAdvice)];
  if (unread !== undefined) {
    const message = `cannot read the stack's configuration: ${unread}`;
    const advice = `${stackAdvice(unread)} Only the environment was checked.`;
    return [missing(name, message, advice)];
  }
  const own = [...entries.keys()].filter((key) => settingFor(key) !== undefined).length;
  const read = ok(name, `${withCount(own, "setting")} in ${stack ?? "the selected stack"}`);
  if (entries.size === 0) return [read];
  return [read, checkConfigKeys(entries, stack), checkConfigSecrets(entries, stack)];
};
