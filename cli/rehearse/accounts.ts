import {
  type ConditionOptions,
  type Conditions,
  givenConditions,
} from "../../provider/forecast/forecast.js";
import { defaultParallel } from "../../provider/forecast/simulation.js";
import { withCount } from "../../provider/kernel/columns.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { nearestHint, quoted } from "../../provider/kernel/text.js";
import { calledAccount } from "../../provider/service/emulated-settings.js";
import {
  defaultScopes,
  endpointName,
  isScope,
  type Scope,
  scopes as serviceScopes,
  setUpOperation,
} from "../../provider/service/http/operations.js";
import type { Pace } from "../../provider/service/http/pace.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { accountTitle, isProviderAccount } from "../../provider/service/settings.js";
import { accessService } from "../account/open-account.js";
import { type AccountReading, type KindReading, readAccount } from "../account/read-account.js";
import { CommandFailure } from "../command.js";
import { providerSources, settingsOfProvider } from "../stack/stack-reading.js";
import { type OriginalStack, profilesOf } from "./stack-copy.js";

/** What a rehearsal needs to know about a tenant. */
export interface TenantReading {
  readonly settings: Settings;
  /** Explicit providers that lead to the same account, beside the name in the settings. */
  readonly alsoNamed?: readonly string[];
  readonly account: AccountReading;
  /** Scopes that the token grants, if the token URL reports them. */
  readonly scopes?: readonly string[];
  /** The usual time from a call to its answer, in milliseconds. */
  readonly roundTripMs: number;
  /** Objects on a page if the caller requests no number; absent if the service does not say. */
  readonly pageSize?: number;
}

/** Options for reading an account. */
interface ReadingOptions {
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Reports what is going on. */
  readonly say: (text: string) => void;
}

/** The lower quartile: a busy machine delays some calls, which is not the service's doing. */
const usualOf = (durations: readonly number[]): number =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 4)] ?? 0;

/** Maximum number of objects on a page of an emulator. */
const mostOnPage = 75;

const pageSizeIn = (text: string): number | undefined => {
  const body = jsonIn(text);
  const info = isObject(body) ? body.paginationInfo : undefined;
  const size = isObject(info) ? Number(info.pagesize) : Number.NaN;
  return Number.isInteger(size) && size >= 1 && size <= mostOnPage ? size : undefined;
};

/**
 * Reads the account of a tenant, with list calls only, and what else determines how a run would go
 * there.
 *
 * @throws ConversationError if nothing can be read
 */
const readTenant = async (
  settings: Settings,
  { env = process.env, say, signal }: ReadingOptions,
): Promise<TenantReading> => {
  const durations: number[] = [];
  let pageSize: number | undefined;
  // Does not count the wait for a call's turn.
  const observed =
    (pace: Pace): Pace =>
    (endpoint, attempt, stop) =>
      pace(
        endpoint,
        async () => {
          const from = performance.now();
          const answer = await attempt();
          durations.push(performance.now() - from);
          if (endpoint.method === "GET") pageSize ??= pageSizeIn(answer.text);
          return answer;
        },
        stop,
      );
  const access = accessService(settings, { environment: env, say, signal, observed });
  const of = settings.profile === undefined ? "" : ` of ${accountTitle(settings.profile)}`;
  let saidAt = performance.now();
  try {
    const account = await readAccount(access, {
      signal,
      onProgress: ({ objects, callsLeft, remainingMs }) => {
        if (performance.now() - saidAt < 5000) return;
        saidAt = performance.now();
        const left = `${withCount(callsLeft, "call")} left, about ${Math.ceil(remainingMs / 1000)} s`;
        say(`Reading the account${of}: ${withCount(objects, "object")}, ${left}.`);
      },
    });
    const { scopes } = await access.service.token();
    return {
      settings,
      account,
      roundTripMs: usualOf(durations),
      ...(scopes ? { scopes } : {}),
      ...(pageSize === undefined ? {} : { pageSize }),
    };
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
export const settingsOfAccounts = (original: OriginalStack) => {
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

/**
 * Reads an account for each of these settings, by lists only.
 *
 * @throws ConversationError if one cannot be read
 */
export const readAccounts = async (all: readonly Settings[], options: ReadingOptions) => {
  const readings: TenantReading[] = [];
  for (const settings of all) {
    options.say(`Reading the account at ${settings.baseUrl} …`);
    readings.push(await readTenant(settings, options));
  }
  return readings;
};

const otherPlan = (profile = "", { plan }: Conditions): string =>
  `The account of ${accountTitle(profile)} is on the ${plan} plan; calls to it stay within that plan's rates.`;

/**
 * The limits of every account: those of the command line first, then those of its profile's
 * settings.
 *
 * @returns the plan of the first account (the default one if it has settings), the steps that run
 * in parallel, the limits of each account in the order of the readings, and sentences about what
 * had to be assumed and which account has another plan than the first
 */
export const runConditions = (
  options: ConditionOptions,
  { source }: Pick<OriginalStack, "source">,
  readings: readonly Pick<TenantReading, "settings">[],
) => {
  const found = readings.map(({ settings: { plan, burst, share, profile } }) =>
    givenConditions(
      { ...(plan ? { plan } : {}), ...(burst ? { burst } : {}), share, ...options },
      source,
      profile,
    ),
  );
  const accounts = found.map(({ conditions }) => conditions);
  const plan = accounts[0]?.plan ?? options.plan ?? "enterprise";
  const others = accounts.flatMap((each, place) =>
    each.plan === plan ? [] : [otherPlan(readings[place]?.settings.profile, each)],
  );
  return {
    plan,
    parallel: options.parallel ?? defaultParallel(source.environment),
    accounts,
    notes: [...found.flatMap(({ assumed }) => assumed), ...others],
  };
};

/** The part of a tenant's reading that shows what its client may do. */
export type ClientReading = Pick<TenantReading, "scopes" | "settings"> & {
  readonly account: {
    readonly kinds: readonly Pick<KindReading, "definition" | "error">[];
  };
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

const prefix = "app.conversation.conversationmgr.";

const shortNames = defaultScopes.map((scope) => scope.slice(prefix.length));

const scopeOf = (word: string): Scope => {
  const found = defaultScopes.find((scope) => scope === word || scope === prefix + word);
  if (found) return found;
  throw new CommandFailure(
    `--as-scopes: the service has no scope ${quoted(word)}. Its scopes are ${shortNames.join(", ")} (or the full names, such as ${serviceScopes.manage})${nearestHint(word, shortNames)}`,
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

const listScopes = ({ definition }: Pick<KindReading, "definition">): readonly Scope[] =>
  setUpOperation(definition, "list").scopes;

const isForbidden = ({ error }: Pick<KindReading, "error">): boolean =>
  isConversationError(error, "FORBIDDEN");

const allows = (scopes: readonly string[], kind: Pick<KindReading, "definition">): boolean =>
  listScopes(kind).some((scope) => scopes.includes(scope));

/**
 * Removes the scopes that would have allowed a refused list, if that is consistent with the other
 * lists.
 */
const withoutRefused = (
  scopes: readonly string[],
  { account: { kinds } }: ClientReading,
): readonly string[] => {
  const refused = new Set<string>(kinds.filter(isForbidden).flatMap(listScopes));
  const left = scopes.filter((scope) => !refused.has(scope));
  return kinds.every((kind) => kind.error !== undefined || allows(left, kind)) ? left : scopes;
};

/**
 * The scopes of the token used for reading: those that the token URL reports in the
 * specification's words, else the requested ones except those that answers show were not granted.
 */
export const scopesInUse = (reading: ClientReading): readonly string[] => {
  const { scopes, settings } = reading;
  if (scopes?.some(isScope)) return scopes;
  const asked = settings.scope.split(" ");
  return withoutRefused(asked.some(isScope) ? asked : defaultScopes, reading);
};

const assumption = (reading: ClientReading, scopes: readonly string[]): string => {
  const refused = reading.account.kinds.find((kind) => isForbidden(kind) && !allows(scopes, kind));
  const why =
    reading.scopes?.some(isScope) || !refused
      ? `has only ${scopes.join(", ")}`
      : `can only read (the service refused ${endpointName(setUpOperation(refused.definition, "list"))})`;
  const { profile } = reading.settings;
  const whose = profile === undefined ? "in these settings" : `of ${accountTitle(profile)}`;
  return `The client ${whose} ${why}, so the rehearsal assumes that another client deploys, with all of the service's scopes. To specify its scopes, use --as-scopes.`;
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
  if (scopes.includes(serviceScopes.manage)) return { scopes, isOther: false };
  return { scopes: defaultScopes, isOther: true, assumed: assumption(reading, scopes) };
};

/**
 * The kinds whose lists the deploying client will be refused, too: the refused ones, except those
 * for which only the reading client lacks the scope.
 */
export const refusedLists = (
  reading: Pick<TenantReading, "scopes" | "settings" | "account">,
  { scopes, isOther }: DeployingClient,
): readonly KindReading[] => {
  const inUse = scopesInUse(reading);
  return reading.account.kinds.filter((kind) => {
    if (kind.error === undefined) return false;
    return !(isOther && isForbidden(kind) && !allows(inUse, kind) && allows(scopes, kind));
  });
};

/** An account in which a run is rehearsed. */
export interface RehearsedAccount extends TenantReading {
  /** The client of the run. */
  readonly client: DeployingClient;
  /** The limits of its calls. */
  readonly conditions: Conditions;
}

/** What the person specifies about the clients that deploy and their limits. */
export interface RehearsedAccountOptions extends ReadingOptions, Pick<ConditionOptions, "plan"> {
  /** Scopes of the client that will deploy. Default: those of the one that reads, if it may write. */
  readonly asScopes?: readonly string[];
}

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
  const { plan, asScopes } = options;
  const { settings, explicit, notes } = settingsOfAccounts(original);
  const readings = await readAccounts(settings, options);
  const given = {
    ...(plan === undefined ? {} : { plan }),
    ...(parallel === undefined ? {} : { parallel }),
  };
  const { accounts: limits, ...conditions } = runConditions(given, original, readings);
  const accounts = readings.flatMap((reading, place): readonly RehearsedAccount[] => {
    const limit = limits[place];
    const others = explicit.get(reading.settings.baseUrl) ?? [];
    const alsoNamed = others.flatMap(({ profile }) => profile ?? []);
    return limit
      ? [{ ...reading, alsoNamed, client: deployingClient(reading, asScopes), conditions: limit }]
      : [];
  });
  return {
    ...conditions,
    accounts,
    notes: [
      ...accounts.flatMap(({ client }) => client.assumed ?? []),
      ...notes,
      ...readings.flatMap(({ account }) => (account.consistent ? [] : [changedNote])),
      ...conditions.notes,
    ],
  };
};
