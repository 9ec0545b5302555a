import type { Clock } from "../../provider/kernel/clock.js";
import { urnParts } from "../../provider/kernel/owner.js";
import { providerToken, tokenParts } from "../../provider/kernel/type-tokens.js";
import { configurationOf } from "../../provider/plugin/configuration.js";
import { emulatedSettings } from "../../provider/service/emulated-settings.js";
import {
  readSettings,
  type SettingSource,
  type Settings,
} from "../../provider/service/settings.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  resourcesInState,
  type StackExport,
} from "../pulumi/stack-documents.js";
import { accessService, type Say, type ServiceAccess } from "./open-account.js";
import type { OpenStack } from "./open-stack.js";

/** A profile, or an explicit provider (`accountIn`); undefined for the settings without either. */
export type AccountName = string | undefined;

/** An account that resources of a stack are in. */
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
 * Reads the settings of an explicit provider, under the name of its account.
 *
 * @throws ConversationError if one is missing or wrong, or would lead a command beside an emulator
 * to another account
 */
export const settingsOfProvider = (source: SettingSource, account: string): Settings => ({
  ...emulatedSettings(readSettings(source), account),
  profile: account,
});

/** The settings of an account that some names lead to. */
interface NamedSettings extends Pick<StackAccount, "names"> {
  readonly settings: Settings;
}

/**
 * Reads the settings of the accounts that some names lead to, each once, however many lead to it.
 *
 * @param document the state, secrets in plain text: it has the settings of explicit providers
 * @throws ConversationError if a setting is missing or wrong
 */
export const settingsOfNames = async (
  stack: Pick<OpenStack, "env" | "readSettings">,
  document: StackExport | undefined,
  names: readonly AccountName[],
): Promise<readonly NamedSettings[]> => {
  const explicit = providerSources(document, stack.env);
  const named = new Map<AccountName, Settings>();
  for (const name of names) {
    const source = explicit.get(name ?? "");
    named.set(
      name,
      source && name ? settingsOfProvider(source, name) : await stack.readSettings(name),
    );
  }
  const tenants = Map.groupBy(named, ([, { baseUrl }]) => baseUrl).values();
  return [...tenants].flatMap((of) =>
    of.slice(0, 1).map(([, settings]) => ({ names: of.map(([name]) => name), settings })),
  );
};

/** Opens the accounts that some names lead to. Parameters and errors as `settingsOfNames`. */
export const openAccounts = async (
  stack: OpenStack,
  document: StackExport,
  names: readonly AccountName[],
  { say = () => undefined, clock, signal }: StackAccountOptions = {},
) => {
  const accounts = await settingsOfNames(stack, document, names);
  const all = accounts.map(
    ({ settings, names }): StackAccount => ({
      names,
      access: accessService(settings, { environment: stack.env, say, clock, signal }),
    }),
  );
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

/** The accounts that the resources of a state use, those under way included; none if it holds nothing of ours. */
export const accountsIn = ({ deployment }: StackExport): readonly AccountName[] => {
  const pending = (deployment.pending_operations ?? []).map(({ resource }) => resource);
  const all = [...(deployment.resources ?? []), ...pending];
  const ours = all.filter(({ type }) => isOurType(type));
  return [...new Set(ours.map(accountIn))];
};
