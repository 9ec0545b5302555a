import { isObject, jsonIn } from "../../../provider/kernel/json.js";
import type { Pace } from "../../../provider/service/http/pace.js";
import type { Settings } from "../../../provider/service/setting-table.js";
import { accessService, type ServiceAccess } from "../../account/open-account.js";
import { type AccountReading, readAccount } from "../../account/read-account.js";

/** A tenant as a rehearsal needs to know it. */
export interface TenantReading {
  readonly settings: Settings;
  readonly account: AccountReading;
  /** Scopes that the token grants, where the token address tells them. */
  readonly scopes?: readonly string[];
  /** The usual time from a call to its answer, in milliseconds. */
  readonly roundTripMs: number;
  /** Objects on a page where the caller asks for no number, where the service tells. */
  readonly pageSize?: number;
}

export interface TenantReadingOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Told what is going on. */
  readonly say: (text: string) => void;
}

/** The lower quartile: what a busy machine adds to some of the calls is not the service's. */
const usualOf = (durations: readonly number[]): number =>
  durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 4)] ?? 0;

/** What the answers tell beside what they hold. */
interface Observed {
  readonly durations: number[];
  pageSize: number | undefined;
}

/** The pages of an emulator hold as many objects at most. */
const mostOnPage = 75;

const pageSizeIn = (text: string): number | undefined => {
  const body = jsonIn(text);
  const info = isObject(body) ? body.paginationInfo : undefined;
  const size = isObject(info) ? Number(info.pagesize) : Number.NaN;
  return Number.isInteger(size) && size >= 1 && size <= mostOnPage ? size : undefined;
};

/** Notes how long each attempt takes, the wait for its turn left aside. */
const observing =
  (pace: Pace, observed: Observed): Pace =>
  (endpoint, attempt, signal) =>
    pace(
      endpoint,
      async () => {
        const from = performance.now();
        const answer = await attempt();
        observed.durations.push(performance.now() - from);
        if (endpoint.method === "GET") observed.pageSize ??= pageSizeIn(answer.text);
        return answer;
      },
      signal,
    );

const readWith = async (access: ServiceAccess, { say, signal }: TenantReadingOptions) => {
  const { settings, service } = access;
  const of = settings.profile === undefined ? "" : ` of profile ${settings.profile}`;
  let toldAt = performance.now();
  const account = await readAccount(access, {
    signal,
    onProgress: ({ objects, callsLeft, remainingMs }) => {
      if (performance.now() - toldAt < 5000) return;
      toldAt = performance.now();
      const left = `${callsLeft} calls left, about ${Math.ceil(remainingMs / 1000)} s`;
      say(`Reading the account${of}: ${objects} objects, ${left}.`);
    },
  });
  const { scopes } = await service.token();
  return { account, ...(scopes ? { scopes } : {}) };
};

/**
 * Reads the account of a tenant, by lists only, and what else tells how a run would fare there.
 *
 * @throws ConversationError where nothing can be read
 */
export const readTenant = async (
  settings: Settings,
  options: TenantReadingOptions,
): Promise<TenantReading> => {
  const { env, say, signal } = options;
  const observed: Observed = { durations: [], pageSize: undefined };
  const access = accessService(settings, {
    ...{ environment: env, say, signal },
    observed: (pace) => observing(pace, observed),
  });
  try {
    const read = await readWith(access, options);
    const { durations, pageSize } = observed;
    return {
      settings,
      ...read,
      roundTripMs: usualOf(durations),
      ...(pageSize === undefined ? {} : { pageSize }),
    };
  } finally {
    await access.close();
  }
};
