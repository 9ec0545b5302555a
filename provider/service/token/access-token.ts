import type { Clock } from "../../kernel/clock.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import type { Pace } from "../http/pace.js";
import { type RetryLimits, withRetry } from "../http/retry.js";
import { type Transport, TransportFailure } from "../http/transport.js";
import { connectionFault, type Failure } from "../http/transport-faults.js";
import { foreignError } from "../redaction/redaction.js";
import { clientSecrets } from "../redaction/secret-texts.js";
import type { Settings } from "../settings/setting-table.js";
import { grantOf, tokenEndpoint, tokenRequest } from "./token-call.js";

/** A token as the token address granted it. */
export interface TokenGrant {
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
export const accessTokens = (fetchGrant: () => Promise<TokenGrant>, clock: Clock): AccessTokens => {
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

/** What every call of one connection shares. */
export interface TokenParts {
  readonly settings: Settings;
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits>;
  /** Ends all waiting of all calls. */
  readonly signal: AbortSignal;
}

/** A token too many does no harm, so every passing failure may be repeated. */
const mayAskAgain = (error: unknown): boolean =>
  isConversationError(error, "UNREACHABLE", "TIMED_OUT", "UNAVAILABLE") && !error.details.permanent;
/** The effect is `none` throughout: the operation that wants the token was not sent. */
const failed = (settings: Settings, failure: Failure): ConversationError => {
  const fault = connectionFault(failure, settings.tokenUrl);
  return new ConversationError(fault.code, `Could not fetch an access token: ${fault.text}.`, {
    ...tokenEndpoint,
    ...(fault.permanent ? { permanent: true as const } : {}),
  });
};

/** What goes wrong inside the transport may quote the credentials. */
const unlessForeign =
  (settings: Settings) =>
  (error: unknown): never => {
    if (error instanceof TransportFailure) throw error;
    throw foreignError(error, clientSecrets(settings));
  };
const asked = async (parts: TokenParts): Promise<TokenGrant> => {
  const { settings, transport } = parts;
  const request = tokenRequest(settings, parts.headers);
  try {
    const send = () => transport.send(request).catch(unlessForeign(settings));
    const response = await parts.pace(tokenEndpoint, send, parts.signal);
    const accepted = response.status >= 200 && response.status <= 299;
    if (accepted && response.broken) {
      throw failed(settings, { cause: response.broken, sent: true });
    }
    return grantOf(settings, response);
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    throw failed(settings, error);
  }
};

/** The one token of a service, fetched from its token address on first use. */
export const tokenSource = (parts: TokenParts): AccessTokens =>
  accessTokens(
    () =>
      withRetry(() => asked(parts), mayAskAgain, {
        limits: parts.retry ?? {},
        signal: parts.signal,
        clock: parts.clock,
      }),
    parts.clock,
  );
