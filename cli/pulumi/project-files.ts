import { resolve } from "node:path";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { isObject } from "../../provider/kernel/json.js";
import { projectFile } from "../../provider/kernel/pulumi.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import type { SettingSource, Settings } from "../../provider/service/settings.js";
import { findProgram } from "./pulumi-cli.js";
import { type PulumiPlace, printedJson, queryPulumi } from "./pulumi-queries.js";

/**
 * Pulumi's messages about a stack that it cannot read, and advice for each. The first match counts.
 */
const advices = [
  {
    when: /PULUMI_ACCESS_TOKEN|pulumi login|not logged in|[Uu]nauthorized|\b401\b/,
    text: "Log in first (pulumi login), set PULUMI_ACCESS_TOKEN, or set PULUMI_BACKEND_URL to a backend.",
  },
  {
    when: /load checkpoint/,
    text: "A file of the state is incomplete. Remove an empty .attrs file, or replace the state with Pulumi's copy of it (.json.bak, or in the folder backups).",
  },
  {
    when: /no Pulumi\.yaml|no project file|no Pulumi project/,
    text: "Run the command in a Pulumi project folder.",
  },
  {
    when: /passphrase/,
    text: "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the stack's passphrase.",
  },
  {
    when: /no stack named/,
    text: "Specify an existing stack with --stack. To list the stacks, run pulumi stack ls; to create one, run pulumi stack init.",
  },
  {
    when: /no stack selected|--stack flag/,
    text: "Select a stack (pulumi stack select), or specify one with --stack.",
  },
];

/** Returns advice for when Pulumi cannot read a stack, based on Pulumi's message. */
export const stackAdvice = (said: string): string =>
  advices.find(({ when }) => when.test(said))?.text ?? "Correct this problem first.";

/**
 * Returns how to query Pulumi about a stack; undefined if there is no CLI on PATH. As in Pulumi, the
 * environment may hold the options `--cwd` and `--stack`, but the stack that a list marks as the
 * current one is still the selected one.
 */
export const pulumiPlace = (
  folder: string,
  { PULUMI_OPTION_CWD = "", ...env }: NodeJS.ProcessEnv,
  stack = env.PULUMI_OPTION_STACK,
): PulumiPlace | undefined => {
  const command = findProgram("pulumi", env.PATH);
  if (command === undefined) return undefined;
  const place = { command, folder: resolve(folder, PULUMI_OPTION_CWD), env };
  return stack ? { ...place, stack } : place;
};

/** One entry in a stack's configuration. */
export interface ConfigEntry {
  /** The value; undefined if it is encrypted and cannot be read. */
  readonly text?: string;
  readonly secret: boolean;
}

/** A stack's configuration, with full keys such as `conversation:baseUrl`. */
export interface StackConfig {
  /** Entries by key; empty if there is no configuration or it could not be read. */
  readonly entries: ReadonlyMap<string, ConfigEntry>;
  /** Source of settings: the environment, then this configuration. */
  readonly source: SettingSource;
  /** The reason why there is no configuration to read. */
  readonly absent?: string;
  /** The reason why the configuration could not be read. */
  readonly unread?: string;
}

export const environmentOnly = (environment: SettingSource["environment"]): SettingSource => ({
  environment,
  config: () => undefined,
});

const entryOf = ({ value, secret }: Readonly<Record<string, unknown>>): ConfigEntry => ({
  ...(typeof value === "string" ? { text: value } : {}),
  secret: secret === true,
});

/**
 * Parses the output of `pulumi config --json`: `{ key: { value, secret } }`; undefined if it is not
 * a JSON object.
 */
const configEntries = (json: string): StackConfig["entries"] | undefined => {
  const config = printedJson(json);
  if (!isObject(config)) return undefined;
  return new Map(
    Object.entries(config).flatMap(([key, entry]): [string, ConfigEntry][] =>
      isObject(entry) ? [[key, entryOf(entry)]] : [],
    ),
  );
};

/**
 * Reads the stack's configuration through the Pulumi CLI; if that is not possible, uses only the
 * environment.
 */
export const readStackConfig = async (
  folder: string,
  env: NodeJS.ProcessEnv,
  stack?: string,
): Promise<StackConfig> => {
  const without = (why: Pick<StackConfig, "absent" | "unread">): StackConfig => ({
    entries: new Map(),
    source: { ...environmentOnly(env), stack },
    ...why,
  });
  const place = pulumiPlace(folder, env, stack);
  if (!projectFile(place?.folder ?? folder))
    return without({ absent: "no Pulumi project in this folder" });
  if (!place) return without({ absent: "pulumi is not on PATH" });
  const answer = await queryPulumi(place, ["config", "--json", "--show-secrets"]);
  if ("reason" in answer) return without({ unread: answer.reason });
  const entries = configEntries(answer.text);
  if (!entries) return without({ unread: "pulumi config printed no JSON" });
  return { entries, source: { environment: env, config: (key) => entries.get(key)?.text, stack } };
};

/**
 * Returns an account's settings.
 *
 * @throws ConversationError as `calledAccount`; if a setting is missing, also why the configuration
 * that may contain it could not be read
 */
export const configuredAccount = (
  { source, unread }: Pick<StackConfig, "source" | "unread">,
  profile?: string,
): Settings => {
  try {
    return calledAccount(source, profile);
  } catch (error) {
    if (unread === undefined || !isConversationError(error, "SETTINGS_MISSING")) throw error;
    throw new ConversationError(
      error.code,
      `${error.message}\nThe stack's configuration could not be read: ${unread}\n${stackAdvice(unread)}`,
    );
  }
};
