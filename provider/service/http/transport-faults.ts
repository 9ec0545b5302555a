import type { ConversationErrorCode, ErrorDetails } from "../../kernel/errors.js";
import { proxyAdvice } from "./proxy-failure.js";
import type { TransportFailure } from "./transport.js";

/** What a failure of the connection means, in words for a message. */
export interface ConnectionFault {
  readonly code: ConversationErrorCode;
  /** What happened and what to check. Quotes nothing that came over the wire. */
  readonly text: string;
  readonly details: Pick<ErrorDetails, "permanent">;
}

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH$|UND_ERR_PRX_TLS$)/;

/** What stands there speaks something else than TLS: plain HTTP, most often. */
const withoutTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

const timeouts: readonly string[] = ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"];

const codeOf = (cause: unknown): string => {
  if (typeof cause !== "object" || cause === null || !("code" in cause)) return "";
  // Anything else would be a foreign text, which has no place in a message.
  return typeof cause.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(cause.code)
    ? cause.code
    : "";
};

/** The first telling code in the chain of causes; several addresses of one host fail as a group. */
const tellingCode = (cause: unknown, depth = 0): string => {
  const own = codeOf(cause);
  if (own !== "" || depth > 3 || typeof cause !== "object" || cause === null) return own;
  const inner = "cause" in cause ? tellingCode(cause.cause, depth + 1) : "";
  if (inner !== "") return inner;
  return cause instanceof AggregateError ? tellingCode(cause.errors[0], depth + 1) : "";
};

const isTimeout = (cause: unknown): boolean =>
  cause instanceof Error && cause.name === "TimeoutError";

const passing = (code: ConversationErrorCode, text: string): ConnectionFault => ({
  code,
  text,
  details: {},
});

const lasting = (code: ConversationErrorCode, text: string): ConnectionFault => ({
  code,
  text,
  details: { permanent: true },
});

const beforeSending = (code: string, host: string): ConnectionFault => {
  const isUnknown = code === "ENOTFOUND" || code === "EAI_AGAIN";
  const what = isUnknown ? `the name ${host} could not be resolved` : `no connection to ${host}`;
  const suffix = code === "" ? "" : ` (${code})`;
  return passing("UNREACHABLE", `${what}${suffix}; check the address, the network and the proxy`);
};

/** Sorts a failure of the connection into the closed set of codes. */
export const connectionFault = (
  { cause, sent, proxy }: Pick<TransportFailure, "cause" | "sent" | "proxy">,
  url: string,
): ConnectionFault => {
  if (proxy !== undefined) return passing("UNREACHABLE", `${proxy}; ${proxyAdvice}`);
  const { host } = new URL(url);
  const code = tellingCode(cause);
  if (withoutTls.test(code)) {
    return lasting(
      "UNREACHABLE",
      `the TLS connection to ${host} could not be trusted (${code}): what answers there speaks no TLS; check the port of the address, and whether it begins with http:// there`,
    );
  }
  if (tlsCode.test(code)) {
    return lasting(
      "UNREACHABLE",
      `the TLS connection to ${host} could not be trusted (${code}); check the address and the certificate, or name your own authority in NODE_EXTRA_CA_CERTS`,
    );
  }
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") {
    return lasting("BAD_RESPONSE", `the answer of ${host} is larger than 8 MiB; check the address`);
  }
  if (isTimeout(cause) || timeouts.includes(code)) {
    return passing("TIMED_OUT", `${host} gave no complete answer in the time allowed`);
  }
  if (!sent) return beforeSending(code, host);
  return passing(
    "UNREACHABLE",
    `the connection to ${host} broke before the answer was complete${code === "" ? "" : ` (${code})`}`,
  );
};
