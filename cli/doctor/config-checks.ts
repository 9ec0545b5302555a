import { settingTable } from "../../provider/service/settings/setting-table.js";
import { type CheckResult, ok, warn } from "./check.js";
import { meantKey, ownKey, settingOf } from "./config-keys.js";
import type { ConfigEntry } from "./stack-config.js";

type Entries = ReadonlyMap<string, ConfigEntry>;

const forStack = (stack: string | undefined): string => (stack ? ` --stack ${stack}` : "");

/** Keys in our namespace that are no settings, and what was meant by them. */
export const checkConfigKeys = (entries: Entries, stack?: string): CheckResult => {
  const name = "config-keys";
  const keys = [...entries.keys()].filter((key) => ownKey(key) && !settingOf(key));
  const typos = keys.flatMap((key) => {
    const meant = meantKey(key);
    return meant ? [{ key, meant }] : [];
  });
  if (typos.length > 0)
    return warn(
      name,
      typos.map(({ key, meant }) => `${key} is no setting: did you mean ${meant}?`).join(" "),
      `Set it under the right name, then run: ${typos
        .map(({ key }) => `pulumi config rm ${key}${forStack(stack)}`)
        .join("; ")}`,
    );
  // A program, or a project called conversation, may keep values of its own there.
  return ok(name, keys.length > 0 ? `not ours, not read: ${keys.join(", ")}` : "all known");
};

const holdsPassword = (text: string): boolean => {
  if (!URL.canParse(text)) return true;
  return new URL(text).password !== "";
};

const isExposed = (key: string, { secret, text = "" }: ConfigEntry): boolean => {
  const setting = settingOf(key) ?? settingOf(meantKey(key) ?? "");
  if (secret || text.trim() === "" || !setting || !settingTable[setting].secret) return false;
  return setting !== "redisUrl" || holdsPassword(text);
};

/** Secrets that stand in the stack's file for everyone to read. */
export const checkConfigSecrets = (entries: Entries, stack?: string): CheckResult => {
  const name = "config-secrets";
  const exposed = [...entries].flatMap(([key, entry]) => (isExposed(key, entry) ? [key] : []));
  if (exposed.length === 0) return ok(name, "none in clear text");
  const commands = exposed.map((key) => `pulumi config set --secret ${key}${forStack(stack)}`);
  return warn(
    name,
    `in clear text in the stack's file: ${exposed.join(", ")}`,
    `Encrypt: ${commands.join("; ")}. Where the file was shared or committed, have a new secret made.`,
  );
};
