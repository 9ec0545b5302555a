import { isConversationError } from "../../provider/kernel/errors.js";
import { nearestHint, quoted } from "../../provider/kernel/text.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import {
  defaultScopes,
  isScope,
  type Scope,
  scopes as serviceScopes,
  setUpOperation,
} from "../../provider/service/operations.js";
import { accountTitle, isProviderAccount, type Settings } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";
import { type ConditionOptions, givenConditions } from "../forecast/forecast.js";
import { accessService } from "../inventory/open-account.js";
import { type AccountReading, type KindReading, readAccount } from "../inventory/read-account.js";
import { providerSources, settingsOfProvider } from "../inventory/stack-accounts.js";
import { type OriginalStack, profilesOf } from "./original-stack.js";

/** A tenant's account as a client reads it. */
export interface ClientReading {
  readonly settings: Settings;
  readonly account: AccountReading;
  /** Scopes that the token grants, if the token URL reports them. */
  readonly scopes?: readonly string[];
}

/** An account in which a run is rehearsed. */
export interface RehearsedAccount extends ClientReading {
  /** Explicit providers that lead to the same account, beside the name in the settings. */
  readonly alsoNamed: readonly string[];
  /** The client of the run. */
  readonly client: DeployingClient;
}

/** How accounts are read, and what the person specifies about the clients that deploy. */
export interface RehearsedAccountOptions extends Pick<ConditionOptions, "plan"> {
  readonly signal: AbortSignal;
  /** Reports what is going on. */
  readonly say: (text: string) => void;
  /** Scopes of the client that will deploy. Default: those of the one that reads, if it may write. */
  readonly asScopes?: readonly string[];
}

/** Reads an account, with list calls only. @throws ConversationError if nothing can be read */
const readClient = async (
  settings: Settings,
  { say, signal }: RehearsedAccountOptions,
  environment: NodeJS.ProcessEnv,
): Promise<ClientReading> => {
  say(`Reading the account at ${settings.baseUrl} …`);
  const access = accessService(settings, { environment, say, signal });
  try {
    const account = await readAccount(access, { signal });
    const { scopes } = await access.service.token();
    return { settings, account, ...(scopes ? { scopes } : {}) };
  } finally {
    await access.close();
  }
};

/**
 * The settings of every profile that can be used, and of the explicit providers in the state that
 * lead to other accounts; those of the default profile if there is no other.
 *
 * @returns the settings, those of explicit providers by the base URL, and a sentence for each
 * profile that cannot be used
 * @throws ConversationError if settings are missing or wrong
 */
const settingsOfAccounts = (original: OriginalStack) => {
  const profiles = profilesOf(original);
  const notes: string[] = [];
  const sources = providerSources(original.document, original.stack.env);
  const found = [undefined, ...profiles, ...sources.keys()].flatMap((profile) => {
    const source = sources.get(profile ?? "");
    try {
      return [
        source && profile
          ? settingsOfProvider(source, profile)
          : calledAccount(original.source, profile),
      ];
    } catch (error) {
      const isOnlyOne = profile === undefined && profiles.length === 0 && sources.size === 0;
      if (isOnlyOne || !isConversationError(error, "SETTINGS_MISSING")) throw error;
      if (profile !== undefined)
        notes.push(
          `The settings for ${accountTitle(profile)} are incomplete, so its account was not read.`,
        );
      return [];
    }
  });
  const explicit = Map.groupBy(
    found.filter(({ profile }) => isProviderAccount(profile)),
    ({ baseUrl }) => baseUrl,
  );
  const settings = found.filter(
    (each) =>
      !isProviderAccount(each.profile) ||
      found.find(({ baseUrl }) => baseUrl === each.baseUrl) === each,
  );
  return { settings, explicit, notes };
};

/** The client of the run, which may differ from the one that reads. */
export interface DeployingClient {
  readonly scopes: readonly string[];
  /**
   * Whether it is another one: a refusal for the reading client's scopes then does not apply to it.
   */
  readonly isOther: boolean;
  /** What had to be assumed, and how to specify it: a sentence. */
  readonly assumed?: string;
}

const { manage } = serviceScopes;
const prefix = "app.conversation.conversationmgr.";

const shortNames = defaultScopes.map((scope) => scope.slice(prefix.length));

const scopeOf = (word: string): Scope => {
  const found = defaultScopes.find((scope) => scope === word || scope === prefix + word);
  if (found) return found;
  throw new CommandFailure(
    `--as-scopes: the service has no scope ${quoted(word)}. Its scopes are ${shortNames.join(", ")} (or the full names, such as ${manage})${nearestHint(word, shortNames)}`,
    2,
  );
};

/**
 * The scopes that a person names, separated by blanks or commas, with or without their common
 * prefix.
 *
 * @throws CommandFailure if the service has no such scope, or none is named
 */
export const parseScopes = (text: string): readonly Scope[] => {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return [...new Set((words.length > 0 ? words : [""]).map(scopeOf))];
};

const isForbidden = ({ error }: Pick<KindReading, "error">): boolean =>
  isConversationError(error, "FORBIDDEN");

/** Whether only the scope for changes allows a client to list the kind. */
const needsManage = ({ definition }: Pick<KindReading, "definition">): boolean =>
  setUpOperation(definition, "list").scopes.every((scope) => scope === manage);

/**
 * The scopes of the token used for reading: those that the token URL reports in the
 * specification's words, else the requested ones.
 */
export const scopesInUse = ({ scopes, settings }: ClientReading): readonly string[] => {
  if (scopes?.some(isScope)) return scopes;
  const asked = settings.scope.split(" ");
  return asked.some(isScope) ? asked : defaultScopes;
};

/**
 * The client that will deploy: one with the given scopes, else the one that reads. If the latter
 * may change nothing, another one deploys.
 */
export const deployingClient = (
  reading: ClientReading,
  given?: readonly string[],
): DeployingClient => {
  if (given) return { scopes: given, isOther: true };
  const scopes = scopesInUse(reading);
  const isRefused = reading.account.kinds.some(
    (kind) => isForbidden(kind) && needsManage(kind) && !reading.scopes?.some(isScope),
  );
  if (scopes.includes(manage) && !isRefused) return { scopes, isOther: false };
  const { profile } = reading.settings;
  const whose = profile === undefined ? "in these settings" : `of ${accountTitle(profile)}`;
  return {
    scopes: defaultScopes,
    isOther: true,
    assumed: `The client ${whose} may only read, so the rehearsal assumes that another client deploys, with all of the service's scopes. To specify its scopes, use --as-scopes.`,
  };
};

/** The kinds whose lists the deploying client will be refused, too, whatever its scopes. */
export const refusedLists = (
  { account }: Pick<ClientReading, "account">,
  { isOther }: DeployingClient,
): readonly KindReading[] =>
  account.kinds.filter((kind) => kind.error !== undefined && !(isOther && isForbidden(kind)));

const changedNote =
  "The account changed while the rehearsal was reading it, so the results may be wrong.";

/**
 * Reads every account that the program may reach, and what determines how a run goes there.
 *
 * @param parallel steps that run in parallel, if the person specifies it
 * @throws ConversationError if settings are missing, or an account cannot be read
 */
export const rehearsedAccounts = async (
  original: OriginalStack,
  options: RehearsedAccountOptions,
  parallel: number | undefined,
) => {
  const { settings, explicit, notes } = settingsOfAccounts(original);
  const [first] = settings;
  if (!first) throw new CommandFailure(`No account can be read. ${notes.join(" ")}`);
  const { plan, burst, share, profile } = { ...first, ...options };
  const limits = { ...(plan ? { plan } : {}), ...(burst ? { burst } : {}), share };
  const given = { ...limits, ...(parallel ? { parallel } : {}) };
  // Those of the first account, which is the default one if that has settings.
  const { conditions, assumed } = givenConditions(given, original.source, profile);
  const accounts: RehearsedAccount[] = [];
  for (const each of settings) {
    const reading = await readClient(each, options, original.stack.env);
    const alsoNamed = (explicit.get(each.baseUrl) ?? []).flatMap(({ profile }) => profile ?? []);
    accounts.push({ ...reading, alsoNamed, client: deployingClient(reading, options.asScopes) });
  }
  return {
    ...{ conditions, accounts },
    notes: [
      ...accounts.flatMap(({ client }) => client.assumed ?? []),
      ...notes,
      ...accounts.flatMap(({ account }) => (account.consistent ? [] : [changedNote])),
      ...assumed,
    ],
  };
};
