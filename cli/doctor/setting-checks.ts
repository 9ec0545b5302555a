import { z } from "zod";
import { nearestWord } from "../../provider/kernel/text.js";
import {
  configCommand,
  type SettingDescription,
  type SettingKey,
  type SettingSource,
  settingKeys,
  settingTable,
} from "../../provider/service/settings.js";
import { sameStack } from "../command.js";
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

/**
 * One setting: is it set, where does it come from, is it well formed? Values of secrets are not
 * shown.
 */
export const checkSetting = (setting: SettingDescription, source: SettingSource): DoctorCheck => {
  const { key, environment, config, default: fallback } = setting;
  const advice = `Set ${environment}, or run: ${configCommand(key, config, source.stack)}`;
  const name = `setting:${key}`;
  const found = [
    { text: source.environment[environment] ?? "", from: environment },
    { text: source.config(config) ?? "", from: `the stack's ${config}` },
  ].find(({ text }) => text.trim() !== "");
  if (!found && setting.required) return fail(name, "missing", advice);
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
  if ("rule" in parsed) return fail(name, `from ${from}: ${parsed.rule}`, advice);
  return ok(name, `${secret ? "hidden" : text.trim()} (from ${from})`);
};

/** A key of our namespace in two parts, such as `conversation:staging.` and `baseUrl`; undefined for others. */
const ownKey = (key: string): { readonly start: string; readonly last: string } | undefined => {
  const [, start, last] = /^(conversation:(?:.*\.)?)([^.]*)$/s.exec(key) ?? [];
  return start === undefined || last === undefined ? undefined : { start, last };
};

/** The setting that a full key such as `conversation:staging.baseUrl` names, if any. */
const settingFor = (key: string): SettingKey | undefined => {
  const last = ownKey(key)?.last;
  return settingKeys.find((name) => name === last);
};

const variables = Object.values(settingTable).map(
  ({ environment }) => `CONVERSATION_${environment}`,
);

type Entries = StackConfig["entries"];

/**
 * Variables, and keys in our namespace, that are nearly those of settings: nothing reads them, and
 * nothing else would report that. A program may keep other values there.
 */
export const checkNames = (env: NodeJS.ProcessEnv, entries: Entries = new Map()): DoctorCheck => {
  const name = "names";
  const misspelled = (start: string, last: string, known: readonly string[]) => {
    const meant = known.includes(last) ? undefined : nearestWord(last, known);
    if (meant === undefined) return [];
    return [`${start}${last} is not a setting: did you mean ${start}${meant}?`];
  };
  const typos = [
    ...Object.keys(env).flatMap((variable) => misspelled("", variable, variables)),
    ...[...entries.keys()].flatMap((key) => {
      const own = ownKey(key);
      return own ? misspelled(own.start, own.last, settingKeys) : [];
    }),
  ];
  if (typos.length === 0) return ok(name, "no misspelled variables or configuration keys");
  return warn(name, typos.join(" "), "Use the correct name.");
};

const isExposed = (key: string, { secret, text = "" }: ConfigEntry): boolean => {
  const setting = settingFor(key);
  if (secret || text.trim() === "" || !setting || !settingTable[setting].secret) return false;
  return setting !== "redisUrl" || !URL.canParse(text) || new URL(text).password !== "";
};

/** Secret settings in plain text in the stack's file. */
export const checkConfigSecrets = (entries: Entries, stack?: string): DoctorCheck => {
  const name = "config-secrets";
  const exposed = [...entries].flatMap(([key, entry]) => (isExposed(key, entry) ? [key] : []));
  if (exposed.length === 0) return ok(name, "none in plain text");
  const commands = exposed.map((key) => `pulumi config set --secret ${key}${sameStack({ stack })}`);
  const secrets = exposed.length === 1 ? "the secret" : "the secrets";
  return warn(
    name,
    `in plain text in the stack's configuration file: ${exposed.join(", ")}`,
    `To encrypt ${secrets}, run: ${commands.join("; ")}. If you shared or committed the file, replace ${secrets}.`,
  );
};

/** The stack's configuration as a whole: was it read, are its secrets encrypted? */
export const checkConfig = (config: StackConfig, stack?: string): readonly DoctorCheck[] => {
  const name = "stack-config";
  const { absent, unread, entries } = config;
  const why = absent ?? unread;
  if (why !== undefined) {
    // Someone who names a stack wants to know about that stack: the environment alone is no answer.
    const judge = stack !== undefined ? fail : absent === undefined ? warn : skipped;
    const advice = absent === undefined ? stackAdvice(why) : "";
    return [judge(name, `not read: ${why}; only the environment was checked`, advice)];
  }
  const own = [...entries.keys()].filter((key) => settingFor(key) !== undefined).length;
  const read = ok(name, `${withCount(own, "setting")} in ${stack ?? "the selected stack"}`);
  return entries.size === 0 ? [read] : [read, checkConfigSecrets(entries, stack)];
};
