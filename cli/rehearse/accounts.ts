import { defaultScopes, isScope, scopes } from "../../provider/service/operations.js";
import type { Settings } from "../../provider/service/settings.js";
import { type Conditions, readConditions } from "../forecast/forecast.js";
import { type AccountReading, readAccount } from "../inventory/read-account.js";
import { type AccountName, accountNames, openAccounts } from "../inventory/stack-accounts.js";
import type { OriginalStack } from "./original-stack.js";

export interface RehearsedAccount {
  /** The profiles and explicit providers that lead to it. */
  readonly names: readonly AccountName[];
  readonly settings: Settings;
  readonly reading: AccountReading;
  /** Those of the client that deploys. */
  readonly scopes: readonly string[];
}

/**
 * The scopes of the client that deploys: those that the token URL reports in the specification's
 * words, else the requested ones. If they allow no changes, another client deploys.
 *
 * @param granted scopes that the token grants, if the token URL reports them
 */
export const deployingScopes = (
  { scope }: Pick<Settings, "scope">,
  granted: readonly string[] = [],
): { readonly scopes: readonly string[]; readonly assumed?: string } => {
  const own = [granted, scope.split(" ")].find((some) => some.some(isScope)) ?? defaultScopes;
  if (own.includes(scopes.manage)) return { scopes: own };
  return {
    scopes: defaultScopes,
    assumed:
      "The client may only read, so the rehearsal assumes that another client deploys, with all of the service's scopes.",
  };
};

export interface AccountReadingOptions extends Pick<Partial<Conditions>, "plan"> {
  readonly signal: AbortSignal;
  /** Reports what is going on. */
  readonly say: (text: string) => void;
}

/**
 * Reads every account that the program may reach, and what determines how a run goes there.
 *
 * @throws ConversationError if settings are missing, or an account cannot be read
 */
export const readAccounts = async (
  { stack, config, source }: OriginalStack,
  { say, signal, ...given }: AccountReadingOptions,
) => {
  const names = accountNames(stack, config);
  const opened = await openAccounts(stack, names, { say, signal });
  const accounts: RehearsedAccount[] = [];
  const notes: string[] = [];
  try {
    for (const { names, access } of opened.all) {
      const { settings, service } = access;
      say(`Reading the account at ${settings.baseUrl} …`);
      const reading = await readAccount(access, { signal });
      const { scopes, assumed } = deployingScopes(settings, (await service.token()).scopes);
      accounts.push({ names, settings, reading, scopes });
      if (assumed) notes.push(assumed);
      if (!reading.consistent)
        notes.push(
          "The account changed while the rehearsal was reading it, so the results may be wrong.",
        );
    }
  } finally {
    await opened.close();
  }
  // The time is that of the first account's plan.
  const { plan, burst, share, profile } = { ...accounts[0]?.settings, ...given };
  const limits = {
    ...(plan ? { plan } : {}),
    ...(burst ? { burst } : {}),
    ...(share ? { share } : {}),
  };
  const { conditions, assumed } = readConditions(limits, source, profile);
  return { accounts, conditions, notes: [...notes, ...assumed] };
};
