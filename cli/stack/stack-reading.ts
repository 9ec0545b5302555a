import type { Definition } from "../../provider/definition/define.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { createRun, type Run } from "../../provider/lifecycle/run.js";
import { typeToken } from "../../provider/pointer.js";
import {
  definitionOfType,
  openedValues,
  type StackExport,
  type StateResource,
} from "../../provider/pulumi-cli/stack-documents.js";
import type { StackStates } from "../../provider/pulumi-cli/stack-states.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { accessService, type Say, type ServiceAccess } from "../account/open-account.js";
import { type AccountReading, type KindReading, readAccount } from "../account/read-account.js";
import type { OpenStack } from "./open-stack.js";

/** A profile name; undefined for the settings without one. */
export type ProfileName = string | undefined;

/** An account that resources of a stack are in. */
interface StackAccount {
  /** The profiles that lead to it. */
  readonly profiles: readonly ProfileName[];
  readonly access: ServiceAccess;
}

const accountOf = <A extends StackAccount>(accounts: readonly A[], profile: ProfileName): A => {
  const found = accounts.find(({ profiles }) => profiles.includes(profile));
  if (!found) throw new Error(`no account was opened for the profile ${profile}`);
  return found;
};

export interface StackAccountOptions {
  readonly say?: Say;
  /** Ends waiting calls. */
  readonly signal?: AbortSignal | undefined;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/**
 * Opens the accounts that some profiles of a stack lead to, each once, however many profiles lead
 * to it.
 *
 * @throws ConversationError if a setting is missing or wrong
 */
export const openAccounts = async (
  stack: OpenStack,
  profiles: readonly ProfileName[],
  { say = () => undefined, clock, signal }: StackAccountOptions = {},
) => {
  const named = new Map<ProfileName, Settings>();
  for (const profile of profiles) named.set(profile, await stack.readSettings(profile));
  const tenants = Map.groupBy(named, ([, { baseUrl }]) => baseUrl).values();
  const all = [...tenants].flatMap((of): StackAccount[] =>
    of.slice(0, 1).map(([, settings]) => ({
      profiles: of.map(([profile]) => profile),
      access: accessService(settings, { environment: stack.env, say, clock, signal }),
    })),
  );
  return {
    all,
    of: (profile: ProfileName): StackAccount => accountOf(all, profile),
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
  /** The state, secrets in clear. */
  readonly document: StackExport;
  /** The states of all stacks of the backend that can be read. */
  readonly states: StackStates;
  readonly accounts: readonly AccountRead[];
  readonly accountOf: (profile: ProfileName) => AccountRead;
  /** For the life cycle, which reads through the same sessions. */
  readonly run: Run;
}

/** Whether a resource is of this package; a component of it is none. */
export const isOurType = (type: string): boolean =>
  type.startsWith(typeToken("")) || definitionOfType(type) !== undefined;

/** The profile that inputs name. */
export const profileIn = (inputs: StateResource["inputs"]): ProfileName => {
  const { profile } = openedValues(inputs);
  return typeof profile === "string" ? profile : undefined;
};

/** The profiles that the resources of a state use, those under way included; none if it holds nothing of ours. */
export const profilesIn = ({ deployment }: StackExport): readonly ProfileName[] => {
  const pending = (deployment.pending_operations ?? []).map(({ resource }) => resource);
  const all = [...(deployment.resources ?? []), ...pending];
  const ours = all.filter(({ type }) => isOurType(type));
  return [...new Set(ours.map(({ inputs }) => profileIn(inputs)))];
};

/**
 * Reads the accounts first and the states after them, which then hold what a run has taken over in
 * between.
 *
 * @throws ConversationError if nothing of an account can be read; CommandFailure if the state cannot
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
  return {
    document,
    states: await stack.readStates("all"),
    accounts,
    accountOf: (profile) => accountOf(accounts, profile),
    run: createRun(async (profile) => opened.of(profile).access),
  };
};

/** The objects of one kind as they were read. */
export const kindIn = ({ reading }: AccountRead, { kind }: Definition): KindReading => {
  const found = reading.kinds.find(({ definition }) => definition.kind === kind);
  if (!found) throw new Error(`${kind} was not read`);
  return found;
};
