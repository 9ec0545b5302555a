import { isConversationError } from "../../../provider/kernel/errors.js";
import type { Settings } from "../../../provider/service/setting-table.js";
import { readSettings } from "../../../provider/service/settings.js";
import { type OriginalStack, profilesOf } from "../copy/original-stack.js";
import { readTenant, type TenantReading, type TenantReadingOptions } from "./tenant-reading.js";

/** The accounts that a program may reach. */
export interface AccountReadings {
  readonly readings: readonly TenantReading[];
  /** What should be known about them, each a sentence. */
  readonly notes: readonly string[];
}

/**
 * The settings of every profile that can be used; of the default one, where there is no other.
 *
 * @param notes gets a sentence for each profile that cannot
 * @throws ConversationError where settings are missing or wrong
 */
export const settingsOfAccounts = (
  original: OriginalStack,
  notes: string[] = [],
): readonly Settings[] => {
  const profiles = profilesOf(original);
  return [undefined, ...profiles].flatMap((profile) => {
    try {
      return [readSettings(original.source, profile)];
    } catch (error) {
      const isOnlyOne = profile === undefined && profiles.length === 0;
      if (isOnlyOne || !isConversationError(error, "SETTINGS_MISSING")) throw error;
      if (profile !== undefined)
        notes.push(`The settings of profile ${profile} are incomplete; its account was not read.`);
      return [];
    }
  });
};

/**
 * Reads the account of every profile that the stack may use, by lists only.
 *
 * @throws ConversationError where settings are missing, or an account cannot be read
 */
export const readAccounts = async (
  original: OriginalStack,
  options: Omit<TenantReadingOptions, "env"> & { readonly env?: NodeJS.ProcessEnv },
): Promise<AccountReadings> => {
  const { env = process.env, say, signal } = options;
  const notes: string[] = [];
  const readings: TenantReading[] = [];
  for (const settings of settingsOfAccounts(original, notes)) {
    say(`Reading the account at ${settings.baseUrl} …`);
    const reading = await readTenant(settings, { env, say, signal });
    if (!reading.account.consistent)
      notes.push("The account changed while it was read, so what is said of it may be wrong.");
    readings.push(reading);
  }
  return { readings, notes };
};
