import {
  describeSettings,
  type SettingDescription,
  type SettingSource,
} from "../../../provider/service/settings.js";
import type { StackStates } from "../../../provider/stacks/stack-states.js";
import { CommandFailure } from "../../command.js";
import { type ConfigEntry, readStackConfig, stackAdvice } from "../../pulumi-cli/stack-config.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { exportStack, openedValues, type StackExport } from "../../stack/stack-export.js";
import { assertPassphrase } from "./assert-passphrase.js";

/** Everything that is copied of a stack; nothing of it is ever changed. */
export interface OriginalStack {
  readonly stack: OpenStack;
  /** Its state, secrets in clear: kept in memory only. */
  readonly document: StackExport;
  readonly config: ReadonlyMap<string, ConfigEntry>;
  readonly source: SettingSource;
  /** What the states of all stacks of the backend hold. */
  readonly states: StackStates;
}

/**
 * Reads state, configuration and the states beside it.
 *
 * @throws CommandFailure where one of the stack's own cannot be read, or the passphrase is another one
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, env } = stack;
  const [document, config, states] = await Promise.all([
    exportStack(place, "clear"),
    readStackConfig(place.folder, env, place.stack),
    stack.readStates("all"),
    assertPassphrase(stack),
  ]);
  if (config.unread !== undefined)
    throw new CommandFailure(
      `The configuration of the stack could not be read, so nothing was done: ${config.unread}\n${stackAdvice(config.unread)}`,
    );
  return { stack, document, config: config.entries, source: config.source, states };
};

/** The same stack as it would be before its first deployment. */
export const emptied = (original: OriginalStack): OriginalStack => ({
  ...original,
  document: {
    ...original.document,
    deployment: { ...original.document.deployment, resources: [], pending_operations: [] },
  },
});

/** As much of a stack as tells its profiles. */
export type ProfileSources = Pick<OriginalStack, "document" | "config"> & {
  readonly stack: Pick<OpenStack, "env">;
};

const profilesInState = ({ document }: Pick<OriginalStack, "document">): readonly string[] =>
  (document.deployment.resources ?? []).flatMap(({ inputs }) => {
    const { profile } = openedValues(inputs);
    return typeof profile === "string" ? [profile] : [];
  });

const variableOf = /^CONVERSATION_([A-Z][A-Z0-9_]*)_BASE_URL$/;
const entryOfProfile = /^conversation:([A-Za-z][\w-]*)\.(\w+)$/;

/** A profile as its variables spell it. */
const wordOf = (profile: string): string => profile.toUpperCase().replaceAll("-", "_");

/**
 * Profiles that a program may use: those of the state, and those that have a base address in the
 * configuration or in the environment. Without one no profile reaches anything.
 */
export const profilesOf = (original: ProfileSources): readonly string[] => {
  const words = Object.keys(original.stack.env).flatMap((name) => variableOf.exec(name)?.[1] ?? []);
  const inConfig = [...original.config.keys()].flatMap((key) => {
    const [, profile = "", setting] = entryOfProfile.exec(key) ?? [];
    return profile && (setting === "baseUrl" || words.includes(wordOf(profile))) ? [profile] : [];
  });
  const known = [...new Set([...profilesInState(original), ...inConfig])];
  const others = words.filter((word) => !known.some((profile) => wordOf(profile) === word));
  return [...known, ...others.map((word) => word.toLowerCase())];
};

/** Every setting by which a program may reach an account. */
export const settingsReaching = (original: ProfileSources): readonly SettingDescription[] =>
  [undefined, ...profilesOf(original)].flatMap((profile) => describeSettings(profile));
