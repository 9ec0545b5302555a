import { quietEnvironment } from "../../../provider/stacks/pulumi-queries.js";
import type { ConfigEntry } from "../../pulumi-cli/stack-config.js";
import { type ProfileSources, settingsReaching } from "./original-stack.js";

/** Whatever would lead a run to the real backend, or another stack. */
const leadsElsewhere = /^PULUMI_(BACKEND_URL|CONFIG_PASSPHRASE|OPTION_|STACK$|ACCESS_TOKEN$)/;

/**
 * The environment of a stack without what leads to its backend, and without every setting by which a
 * program may reach an account. Other variables may be the program's own, or hold its secrets.
 */
export const withoutWaysOut = (original: ProfileSources): NodeJS.ProcessEnv => {
  const ours = new Set(settingsReaching(original).map(({ environment }) => environment));
  return Object.fromEntries(
    Object.entries(quietEnvironment(original.stack.env)).filter(
      ([name]) => !leadsElsewhere.test(name) && !ours.has(name),
    ),
  );
};

/**
 * The configuration of a stack with other settings for its accounts; those that have none are empty,
 * which counts as missing: what the project file says would count if they were left out.
 *
 * @param settings by full key, such as `conversation:baseUrl`
 */
export const configWith = (
  original: ProfileSources,
  settings: Readonly<Record<string, string>>,
): ReadonlyMap<string, ConfigEntry> => {
  const ours = new Set(settingsReaching(original).map(({ config }) => config));
  const none: ConfigEntry = { text: "", secret: false };
  const others = [...original.config].map(
    ([key, entry]) => [key, ours.has(key) ? none : entry] as const,
  );
  const given = Object.entries(settings).map(
    ([key, text]) => [key, { text, secret: false }] as const,
  );
  return new Map([...others, ...given]);
};
