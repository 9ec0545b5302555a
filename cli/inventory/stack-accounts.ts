import type { Clock } from "../../provider/kernel/clock.js";
import { providerToken, tokenParts, urnParts } from "../../provider/kernel/pulumi.js";
import { configurationOf } from "../../provider/plugin/configuration.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import type { SettingSource, Settings } from "../../provider/service/settings.js";
import type { StackConfig } from "../pulumi/project-files.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  resourcesInState,
  type StackExport,
} from "../pulumi/stack-documents.js";
import { resourcesWithPending } from "../pulumi/stack-states.js";
import { accessService, type Say, type ServiceAccess } from "./open-account.js";
import type { OpenStack } from "./open-stack.js";

/** A profile, or an explicit provider (`accountIn`); undefined for the settings without either. */
export type AccountName = string | undefined;

interface StackAccount {
  /** The names that lead to it. */
  readonly names: readonly AccountName[];
  readonly access: ServiceAccess;
}

/**
 * The settings of the explicit providers in a state, by the names of their accounts: what a program
 * gives a provider precedes the environment.
 *
 * @param document secrets in plain text
 */
export const providerSources = (
  document: StackExport | undefined,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, SettingSource> => {
  // Of two with one URN, the one that stays comes last.
  const sorted = resourcesInState(document).toSorted(
    (a, b) => Number(b.delete === true) - Number(a.delete === true),
  );
  return new Map(
    sorted.flatMap(({ urn, type, inputs }) => {
      const account = type === providerToken && accountIn({ provider: `${urn}::` });
      if (!account) return [];
      return [[account, configurationOf(urnParts(urn).name, openedValues(inputs), env).source]];
    }),
  );
};

export interface StackAccountOptions {
  readonly say?: Say;
  /** Ends waiting calls. */
  readonly signal?: AbortSignal | undefined;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/**
 * Opens the accounts that some names lead to, each once, however many lead to it.
 *
 * @throws ConversationError if a setting is missing or wrong, or would lead a command beside an
 * emulator to another account
 */
export const openAccounts = async (
  stack: OpenStack,
  names: readonly AccountName[],
  { say = () => undefined, clock, signal }: StackAccountOptions = {},
) => {
  const explicit = providerSources(stack.document, stack.env);
  const named = new Map<AccountName, Settings>();
  for (const name of names) {
    const source = explicit.get(name ?? "");
    const settings =
      source && name
        ? { ...calledAccount({ ...source, account: name }), profile: name }
        : await stack.readSettings(name);
    named.set(name, settings);
  }
  const all: StackAccount[] = [];
  for (const alike of Map.groupBy(named, ([, { baseUrl }]) => baseUrl).values())
    for (const [, settings] of alike.slice(0, 1))
      all.push({
        names: alike.map(([name]) => name),
        access: accessService(settings, { environment: stack.env, say, clock, signal }),
      });
  return {
    all,
    close: async () => {
      await Promise.all(all.map(({ access }) => access.close()));
    },
  };
};

/** Whether a resource is of this package; a component of it is none. */
export const isOurType = (type: string): boolean =>
  tokenParts(type)?.door === "dynamic" || definitionOfType(type) !== undefined;

/**
 * The accounts that the resources of a state use, those under way included. An `Ownership` makes no
 * calls, and so uses none.
 */
export const accountsIn = (document: StackExport): readonly AccountName[] => {
  const ours = resourcesWithPending(document).filter(({ type }) => definitionOfType(type));
  return [...new Set(ours.map(accountIn))];
};

const variableOf = /^CONVERSATION_(?:([A-Z][A-Z0-9_]*)_)?BASE_URL$/;
const entryOf = /^conversation:(?:([A-Za-z][\w-]*)\.)?(\w+)$/;

/**
 * The accounts that a program may use: those of the state with its explicit providers, and those
 * that have a base URL in the configuration or in the environment. Without an address, a profile
 * reaches nothing.
 */
export const accountNames = (
  { document, env }: Pick<OpenStack, "document" | "env">,
  config: StackConfig["entries"],
): readonly AccountName[] => {
  const entries = [...config.keys()].flatMap((key) => {
    const [found, profile, setting] = entryOf.exec(key) ?? [];
    return found ? [{ profile, setting }] : [];
  });
  const spelled = entries.flatMap(({ profile }) => profile ?? []);
  const inConfig = entries.filter(({ setting }) => setting === "baseUrl");
  const inVariables = Object.entries(env).flatMap(([name, address]) => {
    const [found, word] = (address && variableOf.exec(name)) || [];
    if (!found || word === undefined) return found ? [undefined] : [];
    return [
      spelled.find((each) => each.toUpperCase().replaceAll("-", "_") === word) ??
        word.toLowerCase(),
    ];
  });
  const names = new Set([
    ...accountsIn(document),
    ...providerSources(document, env).keys(),
    ...inConfig.map(({ profile }) => profile),
    ...inVariables,
  ]);
  const [unnamed, named] = [[undefined], [...names].filter((name) => name !== undefined)];
  return [...(names.has(undefined) || names.size === 0 ? unnamed : []), ...named];
};
