import type { Definition } from "../../provider/definition/define.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { urnParts } from "../../provider/kernel/owner.js";
import { providerToken, tokenParts } from "../../provider/kernel/type-tokens.js";
import type { StackStates } from "../../provider/lifecycle/ownership/stack-states.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { configurationOf } from "../../provider/plugin/configuration.js";
import { addressesVariable, emulatedSettings } from "../../provider/service/emulated-settings.js";
import type { Settings } from "../../provider/service/setting-table.js";
import {
  isProviderAccount,
  readSettings,
  type SettingSource,
} from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import {
  accountIn,
  definitionOfType,
  openedValues,
  type StackExport,
} from "../pulumi/stack-documents.js";
import { accessService, type Say, type ServiceAccess } from "./open-account.js";
import type { OpenStack } from "./open-stack.js";
import { type AccountReading, type KindReading, readAccount } from "./read-account.js";

/** A profile, or an explicit provider (`accountIn`); undefined for the settings without either. */
export type AccountName = string | undefined;

/** An account that resources of a stack are in. */
interface StackAccount {
  /** The names that lead to it. */
  readonly names: readonly AccountName[];
  readonly access: ServiceAccess;
}

const accountOf = <A extends StackAccount>(accounts: readonly A[], name: AccountName): A => {
  const found = accounts.find(({ names }) => names.includes(name));
  if (!found) throw new Error(`no account was opened for ${name}`);
  return found;
};

/**
 * The settings of the explicit providers in a state, by the names of their accounts: what a program
 * gives a provider precedes the environment.
 *
 * @param document secrets in plain text
 */
export const providerSources = (
  { deployment }: StackExport,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, SettingSource> => {
  const resources = deployment.resources ?? [];
  // Of two with one URN, the one that stays comes last.
  const sorted = resources.toSorted(
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
  const explicit = document && providerSources(document, stack.env);
  const named = new Map<AccountName, Settings>();
  for (const name of names) {
    const source = explicit?.get(name ?? "");
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
  document: StackExport | undefined,
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
    of: (name: AccountName): StackAccount => accountOf(all, name),
    close: async () => {
      await Promise.all(all.map(({ access }) => access.close()));
    },
  };
};

/** An account with all its objects. */
export interface AccountRead extends Pick<StackAccount, "access"> {
  readonly reading: AccountReading;
}

/** A stack with the accounts of its resources. */
export interface StackReading {
  /** The state, secrets in plain text. */
  readonly document: StackExport;
  /** The states of all stacks in the backend that can be read. */
  readonly states: StackStates;
  readonly accounts: readonly AccountRead[];
  readonly accountOf: (name: AccountName) => AccountRead;
  /** For the lifecycle of the resources of an account, which reads through the same sessions. */
  readonly runIn: (name: AccountName) => Run;
}

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

/** A new emulator would make every object of the stack look deleted. */
const assertSameEmulator = (
  { env, names: { project, stack } }: OpenStack,
  { deployment }: StackExport,
  accounts: readonly AccountRead[],
): void => {
  if (env[addressesVariable] === undefined) return;
  const kinds = accounts.flatMap(({ reading }) => reading.kinds);
  if (kinds.some(({ objects, problem }) => objects.size > 0 || problem !== undefined)) return;
  const held = (deployment.resources ?? []).filter(
    ({ type, id, external }) => id && external !== true && definitionOfType(type),
  );
  if (held.length === 0) return;
  throw new CommandFailure(
    `This emulator is empty: it contains none of the objects of ${project}/${stack} (${held.length} in its state). Nothing was done. Start the emulator with the file that contains them (--data <file>), or run the command without the emulator.`,
  );
};

/**
 * Reads the accounts first and the states after them, which then hold what a run has taken over in
 * between.
 *
 * @throws ConversationError if nothing of an account can be read; CommandFailure if the state cannot,
 * or if this runs beside an empty emulator that has none of its objects
 */
export const readStack = async (
  stack: OpenStack,
  document: StackExport,
  opened: Awaited<ReturnType<typeof openAccounts>>,
): Promise<StackReading> => {
  const accounts = await Promise.all(
    opened.all.map(async (account) => ({
      ...account,
      reading: await readAccount(account.access),
    })),
  );
  assertSameEmulator(stack, document, accounts);
  const runs = new Map<AccountName, Run>();
  return {
    document,
    states: await stack.readStates("all"),
    accounts,
    accountOf: (name) => accountOf(accounts, name),
    runIn: (name) => {
      // A profile stands in the values of its resources.
      const explicit = isProviderAccount(name) ? name : undefined;
      const run = runs.get(explicit) ?? createRun(async (of = explicit) => opened.of(of).access);
      runs.set(explicit, run);
      return run;
    },
  };
};

/** The objects of one kind as they were read. */
export const kindIn = ({ reading }: AccountRead, { kind }: Definition): KindReading => {
  const found = reading.kinds.find(({ definition }) => definition.kind === kind);
  if (!found) throw new Error(`${kind} was not read`);
  return found;
};
