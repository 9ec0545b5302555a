import type { Clock } from "../../provider/kernel/clock.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { accessService, type Say, type ServiceAccess } from "../account/open-account.js";
import type { OpenStack } from "./open-stack.js";

/** A name of settings; undefined for those without a name. */
export type ProfileName = string | undefined;

/** An account that resources of a stack are in. */
export interface StackAccount {
  /** The profiles that lead to it. */
  readonly profiles: readonly ProfileName[];
  readonly access: ServiceAccess;
}

/** The accounts of a stack, each once however many profiles lead to it. */
export interface StackAccounts {
  readonly all: readonly StackAccount[];
  readonly of: (profile: ProfileName) => StackAccount;
  readonly close: () => Promise<void>;
}

export interface StackAccountOptions {
  readonly say?: Say;
  /** Ends waiting calls. */
  readonly signal?: AbortSignal;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

interface Tenant {
  readonly settings: Settings;
  readonly profiles: ProfileName[];
}

const tenantsOf = async (
  stack: OpenStack,
  profiles: readonly ProfileName[],
): Promise<readonly Tenant[]> => {
  const tenants: Tenant[] = [];
  for (const profile of new Set(profiles)) {
    const settings = await stack.readSettings(profile);
    const known = tenants.find((each) => each.settings.baseUrl === settings.baseUrl);
    if (known) known.profiles.push(profile);
    else tenants.push({ settings, profiles: [profile] });
  }
  return tenants;
};

/**
 * Opens the accounts that some profiles of a stack lead to.
 *
 * @throws ConversationError where a setting is missing or wrong
 */
export const openAccounts = async (
  stack: OpenStack,
  profiles: readonly ProfileName[],
  { say = () => undefined, clock, signal }: StackAccountOptions = {},
): Promise<StackAccounts> => {
  const tenants = await tenantsOf(stack, profiles);
  const all = tenants.map(({ settings, profiles: of }) => ({
    profiles: of,
    access: accessService(settings, { environment: stack.env, say, clock, signal }),
  }));
  return {
    all,
    of: (profile) => {
      const found = all.find((account) => account.profiles.includes(profile));
      if (!found) throw new Error(`no account was opened for the profile ${profile}`);
      return found;
    },
    close: async () => {
      await Promise.all(all.map(({ access }) => access.close()));
    },
  };
};
