import type { Clock } from "../../kernel/clock.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import type { Pace } from "../http/pace.js";
import { type OnRepeat, type RetryLimits, withRetry } from "../http/retry.js";
import { type HttpResponse, type Transport, TransportFailure } from "../http/transport.js";
import { connectionFault } from "../http/transport-faults.js";
import { foreignError } from "../redaction/redaction.js";
import type { Settings } from "../settings/setting-table.js";
import { grantOf, type TokenGrant, tokenEndpoint, tokenRequest } from "./token-call.js";

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
  /** The client's credentials, in every form that no message may show. */
  readonly secrets: readonly string[];
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  /** Of every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly retry?: Partial<RetryLimits>;
  readonly onRepeat?: OnRepeat;
  /** Ends all waiting of all calls. */
  readonly signal: AbortSignal;
}

/** A token too many does no harm, so every passing failure may be repeated. */
const mayAskAgain = (error: unknown): boolean =>
  isConversationError(error, "UNREACHABLE", "TIMED_OUT", "UNAVAILABLE") && !error.details.permanent;

/**
 * What goes wrong inside the transport may quote the credentials. The effect is `none` throughout: the
 * operation that wants the token was not sent.
 */
const failed = ({ settings, secrets }: TokenParts, error: unknown): unknown => {
  if (!(error instanceof TransportFailure)) return foreignError(error, secrets);
  const { code, text, details } = connectionFault(error, settings.tokenUrl);
  const message = `Could not fetch an access token: ${text}.`;
  return new ConversationError(code, message, { ...tokenEndpoint, ...details });
};

const asked = async (parts: TokenParts): Promise<TokenGrant> => {
  const { settings, transport, pace, signal } = parts;
  const request = tokenRequest(settings, parts.headers);
  const send = async (): Promise<HttpResponse> => {
    try {
      return await transport.send(request);
    } catch (error) {
      throw failed(parts, error);
    }
  };
  const response = await pace(tokenEndpoint, send, signal);
  const { status, broken } = response;
  if (broken && status >= 200 && status <= 299) {
    throw failed(parts, new TransportFailure(true, broken));
  }
  return grantOf(settings, response);
};

/** The one token of a service, fetched from its token address on first use. */
export const tokenSource = (parts: TokenParts): AccessTokens => {
  const { retry: limits = {}, signal, clock, onRepeat } = parts;
  const options = { limits, signal, clock, onRepeat };
  const fetchGrant = () => withRetry(() => asked(parts), mayAskAgain, options);
  return accessTokens(fetchGrant, clock);
};
