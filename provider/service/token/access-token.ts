import type { Clock } from "../../kernel/clock.js";

/** A token as the token address granted it. */
export interface Grant {
  readonly accessToken: string;
  /** Seconds, counted from receipt. Left out: the token address did not say. */
  readonly expiresIn?: number;
  /** Scopes granted, where the token address says. */
  readonly scopes?: readonly string[];
}

/** A token in use. */
export interface AccessToken {
  readonly value: string;
  /** Counts the tokens of this process, so that a refused token is told from its successor. */
  readonly generation: number;
  readonly scopes?: readonly string[];
  /** On the monotonic clock, in milliseconds: not used from then on. */
  readonly usableUntil: number;
}

/** One token, shared by all calls. */
export interface AccessTokens {
  /** The token in use; fetched if there is none or if it is about to expire. */
  current(): Promise<AccessToken>;
  /** A token other than the one the service has just refused; all who were refused share one fetch. */
  after(refused: AccessToken): Promise<AccessToken>;
  /** The last token, if any was fetched. */
  readonly last: AccessToken | undefined;
}

const assumedLifetimeS = 300;
const longestMarginMs = 60_000;

/** A token is given up 60 s before it expires, or a tenth of its life where that is shorter. */
const usableMs = (expiresIn = assumedLifetimeS): number => {
  const lifetimeMs = expiresIn * 1000;
  return lifetimeMs - Math.min(longestMarginMs, lifetimeMs / 10);
};

/**
 * Keeps one token, judged by the lifetime it was granted with and the monotonic clock.
 *
 * @param fetchGrant asks the token address; its failures reach everybody who waits
 */
export const accessTokens = (fetchGrant: () => Promise<Grant>, clock: Clock): AccessTokens => {
  let last: AccessToken | undefined;
  let pending: Promise<AccessToken> | undefined;
  let generation = 0;

  const fetched = async (): Promise<AccessToken> => {
    const grant = await fetchGrant();
    generation += 1;
    last = {
      value: grant.accessToken,
      generation,
      usableUntil: clock.now() + usableMs(grant.expiresIn),
      ...(grant.scopes ? { scopes: grant.scopes } : {}),
    };
    return last;
  };

  const shared = (): Promise<AccessToken> => {
    pending ??= fetched().finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const usable = (): AccessToken | undefined =>
    last && clock.now() < last.usableUntil ? last : undefined;

  return {
    current: async () => usable() ?? shared(),
    after: async (refused) => {
      // Nobody else should try the refused one while its successor is on the way.
      if (last?.generation === refused.generation)
        last = { ...last, usableUntil: Number.NEGATIVE_INFINITY };
      const successor = usable();
      return successor && successor.generation > refused.generation ? successor : shared();
    },
    get last() {
      return last;
    },
  };
};
