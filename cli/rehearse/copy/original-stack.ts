import type { SettingSource } from "../../../provider/service/settings/settings.js";
import type { StackStates } from "../../../provider/stacks/stack-states.js";
import { CommandFailure } from "../../command.js";
import { type ConfigEntry, readStackConfig, stackAdvice } from "../../pulumi-cli/stack-config.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { exportStack, openedValues, type StackExport } from "../../stack/stack-export.js";

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
 * @throws CommandFailure where one of the stack's own cannot be read
 */
export const readOriginal = async (stack: OpenStack): Promise<OriginalStack> => {
  const { place, env } = stack;
  const [document, config, states] = await Promise.all([
    exportStack(place, "clear"),
    readStackConfig(place.folder, env, place.stack),
    stack.readStates("all"),
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

const profilesInState = ({ document }: OriginalStack): readonly string[] =>
  (document.deployment.resources ?? []).flatMap(({ inputs }) => {
    const { profile } = openedValues(inputs);
    return typeof profile === "string" ? [profile] : [];
  });

/**
 * Profiles that a program may use: those of the state, and those that have a base address in the
 * configuration or in the environment.
 */
export const profilesOf = (original: OriginalStack): readonly string[] => {
  const inConfig = [...original.config.keys()].flatMap(
    (key) => /^conversation:([A-Za-z][\w-]*)\.baseUrl$/.exec(key)?.[1] ?? [],
  );
  const known = [...new Set([...profilesInState(original), ...inConfig])];
  const isKnown = (word: string) =>
    known.some((name) => name.toUpperCase().replaceAll("-", "_") === word);
  const inEnvironment = Object.keys(original.stack.env).flatMap((name) => {
    const word = /^CONVERSATION_([A-Z][A-Z0-9_]*)_BASE_URL$/.exec(name)?.[1];
    return word === undefined || isKnown(word) ? [] : [word.toLowerCase()];
  });
  return [...known, ...inEnvironment];
};
