import type { Clock } from "../../kernel/clock.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import type { Pace } from "../http/pace.js";
import { type RetryLimits, withRetry } from "../http/retry.js";
import { type Transport, TransportFailure } from "../http/transport.js";
import { type Failure, faultOf } from "../http/transport-faults.js";
import { foreignError } from "../redaction/redaction.js";
import { clientSecrets } from "../redaction/secret-texts.js";
import type { Settings } from "../settings/setting-table.js";
import { type AccessTokens, accessTokens, type Grant } from "./access-token.js";
import { grantOf, tokenEndpoint, tokenRequest } from "./token-call.js";

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
  const fault = faultOf(failure, settings.tokenUrl);
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

const asked = async (parts: TokenParts): Promise<Grant> => {
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
