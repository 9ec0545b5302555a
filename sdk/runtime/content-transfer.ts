import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { types } from "node:util";
import type { Dispatcher } from "undici";
import type { Clock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { type CallEvent, observeAttempt } from "../../provider/service/call-events.js";
import { retryAfterMs, retryAfterText } from "../../provider/service/pace.js";
import {
  connecting,
  connectionFault,
  type Dispatchers,
  dispatchersBy,
  isLoopback,
  proxyAgent,
  proxyFailure,
} from "../../provider/service/transport.js";
import type { AssetCalls, SignedAddress } from "./asset-calls.js";
import { anyFunction, callOptions, checkedOptions, timeLimit } from "./input-schemas.js";

/** Networks that no signed URL of a public service leads to, with the prefixes that hide them. */
const special = {
  ipv4: `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.168.0.0/16 198.18.0.0/15 224.0.0.0/3`,
  ipv6: "::/96 64:ff9b::/32 100::/64 2001::/32 2002::/16 fc00::/7 fe80::/9 ff00::/8",
} as const;

const privateNetworks = (): BlockList => {
  const list = new BlockList();
  for (const family of ["ipv4", "ipv6"] as const) {
    for (const network of special[family].split(/\s+/)) {
      const [address = "", bits] = network.split("/");
      list.addSubnet(address, Number(bits), family);
    }
  }
  return list;
};

let networks: BlockList | undefined;

/** Whether an IP address belongs to a private, link-local, loopback, or otherwise special network. */
export const isPrivateAddress = (address: string): boolean => {
  networks ??= privateNetworks();
  // Also for an IPv4 address inside an IPv6 one the list knows the IPv4 networks.
  return networks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
};

/** Where signed URLs may lead, by the base URL of the service. */
interface AddressRule {
  /** The service itself runs on this machine, so its addresses may too. */
  readonly loopback: boolean;
}

export const addressRuleFor = (baseUrl: string): AddressRule => ({
  loopback: isLoopback(new URL(baseUrl).hostname),
});

const refusedBy = (url: URL, { loopback }: AddressRule): string | undefined => {
  if (loopback && isLoopback(url.hostname)) return undefined;
  if (url.protocol !== "https:") return "does not start with https://";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isPrivate = isLoopback(host) || (isIP(host) !== 0 && isPrivateAddress(host));
  return isPrivate ? "points to this machine or a private network" : undefined;
};

/**
 * Checks a signed URL from the service, so that no response can direct content or local data to an
 * unsafe destination. The URL is a secret, so messages show only the host.
 *
 * @throws ConversationError `BAD_RESPONSE`
 */
export const checkedAddress = (text: unknown, rule: AddressRule, what: string): URL => {
  const bad = (why: string) =>
    new ConversationError(
      "BAD_RESPONSE",
      `Could not ${what}: the service's signed URL ${why}. Nothing was transferred. Check that the base URL belongs to the service.`,
      { permanent: true },
    );
  if (typeof text !== "string" || !URL.canParse(text)) throw bad("is missing or is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw bad("is not an HTTP or HTTPS URL");
  if (url.username !== "" || url.password !== "") throw bad("contains a user name or password");
  const why = refusedBy(url, rule);
  if (why) throw bad(`(host ${url.host}) ${why}`);
  return url;
};

/** Marks a name that led to an address that is not allowed. */
class PrivateAddressError extends Error {
  override readonly name = "PrivateAddressError";
  readonly code = "EPRIVATE";
}

/**
 * Resolves host names as usual and fails if any address is private, because a public name can
 * resolve to a private address. Connections use exactly the addresses that were checked.
 */
export const publicLookup =
  (lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 4);
      const [first] = addresses;
      if (!first || addresses.some(({ address }) => isPrivateAddress(address))) {
        return callback(new PrivateAddressError("not a public address"), "", 4);
      }
      if (options.all) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };

/** Content in transit, as chunks of bytes. */
export type Pieces = AsyncIterable<Uint8Array>;

/** A transfer to or from a validated signed URL. */
export interface SignedTransfer {
  /** Description of the transfer for messages, such as `upload asset 4f…`. */
  readonly what: string;
  readonly url: URL;
  readonly signal: AbortSignal;
}

/** The response from a signed URL, without its content. */
export interface TransferReply {
  readonly status: number;
  /** Headers, with names in lowercase. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The response to a download from a signed URL. The caller must release it, whether or not its
 * content was read.
 */
export interface ContentAnswer extends TransferReply {
  /** Value of `content-length`, if the response has one. */
  readonly length: number | undefined;
  readonly pieces: Pieces;
  /**
   * Discards the rest of the content if there is little left, so that the connection can be reused.
   */
  discard(): Promise<void>;
  /** Releases the connection immediately, closing it if it is in use. */
  release(): void;
}

export interface Upload extends SignedTransfer {
  readonly contentType: string;
  readonly size: number;
  readonly pieces: Pieces;
}

/** Transfers content over its own connections, without a token and without following redirects. */
export interface ContentTransfer {
  /** Posts the content and returns the response, regardless of its status. */
  upload(upload: Upload): Promise<TransferReply>;
  /** Gets the content and returns the response, regardless of its status. */
  download(transfer: SignedTransfer): Promise<ContentAnswer>;
  close(): Promise<void>;
}

/** Returns a promise that rejects with the signal's reason when the signal aborts. */
export const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });

const isPrivate = (error: unknown, depth = 0): boolean => {
  if (error instanceof PrivateAddressError) return true;
  if (!(error instanceof Error) || depth > 3) return false;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some((cause) => isPrivate(cause, depth + 1));
};

/**
 * Returns the error for a failed transfer: an existing ConversationError, unchanged, or else one
 * with the code `CANCELLED`, `TIMED_OUT`, `BAD_RESPONSE`, or `UNREACHABLE`. Messages show only the
 * URL's host.
 */
export const transferFailure = (
  { what, url, signal }: SignedTransfer,
  cause: unknown,
): ConversationError => {
  if (isConversationError(cause)) return cause;
  const reason: unknown = signal.aborted ? signal.reason : cause;
  if (isConversationError(reason)) return reason;
  if (isPrivate(cause)) {
    return new ConversationError(
      "BAD_RESPONSE",
      `Could not ${what}: the host ${url.host} in the signed URL points to this machine or a private network. Nothing was transferred.`,
      { permanent: true },
    );
  }
  const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
  if (signal.aborted && !isTimeout) {
    return new ConversationError("CANCELLED", `Could not ${what}: the transfer was canceled.`);
  }
  const proxy = proxyFailure(reason, url, process.env);
  const fault = connectionFault(
    { cause: reason, sent: true, ...(proxy === undefined ? {} : { proxy }) },
    url.origin,
  );
  return new ConversationError(fault.code, `Could not ${what}: ${fault.text}.`);
};

const timeouts = { headersTimeout: 60_000, bodyTimeout: 30_000 } as const;

/** An answer that is not wanted is read so far, and so long, for the sake of its connection. */
const mostDropped = 64 * 1024;
const dropWithinMs = 1_000;

type Body = Dispatcher.ResponseData["body"];

/** The answer says nothing that a message may quote: it may hold the address. */
const drained = (body: Body): Promise<void> =>
  body.dump({ limit: mostDropped, signal: AbortSignal.timeout(dropWithinMs) }).catch(() => {});

async function* guarded(
  transfer: SignedTransfer,
  body: Pieces,
): Pieces & AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw transferFailure(transfer, error);
  }
}

const lengthOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;

const contentAnswer = (
  transfer: SignedTransfer,
  { statusCode, headers, body }: Dispatcher.ResponseData,
): ContentAnswer => {
  // Reported through the pieces; without a listener it would end the process.
  body.on("error", () => {});
  return {
    status: statusCode,
    headers,
    length: lengthOf(headers["content-length"]),
    pieces: guarded(transfer, body),
    discard: () => drained(body),
    release: () => {
      body.destroy();
    },
  };
};

/** The lookup of the system, or of a test. */
type NameLookup = Parameters<typeof publicLookup>[0];

interface TransferParts {
  readonly lookup?: NameLookup;
  readonly onEvent?: (event: CallEvent) => void;
}

/**
 * Connections to signed URLs, eight at most to each host: one dispatcher for this machine, one
 * for everywhere else; the latter goes through a proxy if one is set.
 */
const contentDispatchers = (lookup: NameLookup): Dispatchers => {
  const isLocal = ({ hostname }: URL): boolean => isLoopback(hostname);
  return dispatchersBy(
    (url) => `${isLocal(url)}`,
    async (url) => {
      const { Agent } = await import("undici");
      const limits = { connections: 8, pipelining: 1, allowH2: false } as const;
      if (isLocal(url)) return new Agent({ ...limits, connect: connecting });
      const checked = { ...connecting, lookup: publicLookup(lookup) };
      return proxyAgent({ ...limits, connect: checked });
    },
  );
};

/**
 * Returns a content transfer that uses sockets. It loads the HTTP client and opens connections on
 * first use.
 */
export const contentTransfer = ({
  lookup,
  onEvent = () => {},
}: TransferParts = {}): ContentTransfer => {
  const dispatchers = contentDispatchers(lookup);
  const send = async (
    transfer: SignedTransfer,
    options: Pick<Dispatcher.RequestOptions, "headers" | "body"> & {
      readonly method: "GET" | "POST";
    },
  ) => {
    const { url, signal } = transfer;
    const call = { method: options.method, template: "{contentUrl}" };
    return observeAttempt(onEvent, { call, attempt: 1 }, url.hostname, async () => {
      try {
        const { request } = await import("undici");
        const dispatcher = await dispatchers.of(url);
        const answer = await request(url, { ...timeouts, ...options, dispatcher, signal });
        return { ...answer, status: answer.statusCode };
      } catch (error) {
        throw transferFailure(transfer, error);
      }
    });
  };
  return {
    upload: async (upload) => {
      const { Readable } = await import("node:stream");
      const { status, headers, body } = await send(upload, {
        method: "POST",
        headers: { "content-type": upload.contentType, "content-length": `${upload.size}` },
        body: Readable.from(upload.pieces, { objectMode: false }),
      });
      await drained(body);
      return { status, headers };
    },
    download: async (transfer) => {
      const headers = { "accept-encoding": "identity" };
      return contentAnswer(transfer, await send(transfer, { method: "GET", headers }));
    },
    close: () => dispatchers.close(),
  };
};

/**
 * Called during a transfer with the number of bytes transferred so far and the total. If the
 * function fails, the transfer ends with `INPUT_INVALID`, and the cause is the function's error.
 */
export type OnProgress = (progress: {
  readonly transferred: number;
  readonly total: number;
}) => void;

/** Options for a content transfer. */
export interface TransferOptions {
  /** Called after each chunk. */
  readonly onProgress?: OnProgress;
  /** Signal that cancels the transfer with `CANCELLED`. */
  readonly signal?: AbortSignal;
  /** Time limit for one transfer, in milliseconds. Default: 300,000 (5 minutes). */
  readonly timeoutMs?: number;
}

/** The dependencies of a content transfer. */
export interface ContentParts extends AssetCalls {
  readonly transfer: ContentTransfer;
  readonly rule: AddressRule;
  readonly clock: Clock;
  /** Signal that cancels all transfers. */
  readonly closing: AbortSignal;
}

const longestTransferMs = 5 * 60_000;

const transferOptions = callOptions.extend({
  onProgress: anyFunction.optional(),
  timeoutMs: timeLimit.optional(),
});

/** @throws ConversationError `INPUT_INVALID` naming the invalid option */
export const transferOptionsOf = <O extends TransferOptions>(doing: string, options: O): O =>
  checkedOptions(doing, transferOptions, options);

/**
 * Returns a signal that ends a transfer at its time limit, when its caller cancels it, or when the
 * connection closes.
 */
export const transferSignal = (
  { closing }: ContentParts,
  { signal, timeoutMs = longestTransferMs }: TransferOptions,
): AbortSignal =>
  AbortSignal.any([closing, AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);

/** By the wall clock of this machine, which may be wrong. */
const hasExpired = ({ clock }: ContentParts, { contentUrlExpiry }: SignedAddress): boolean =>
  contentUrlExpiry !== undefined && contentUrlExpiry.getTime() <= clock.wall();

/** Whether a refusal may be because the address has expired. */
const mayHaveExpired = (parts: ContentParts, address: SignedAddress, status: number): boolean =>
  [401, 403, 410].includes(status) ||
  (status >= 400 && status <= 499 && hasExpired(parts, address));

/**
 * Transfers content to or from an asset's signed URL. If the URL seems to have expired, requests a
 * new one once.
 *
 * @returns the last response from a signed URL, whatever its status; `isStuck`: the URL may have
 * expired, but the content cannot be transferred again
 */
export const movedContent = async <A extends SignedAddress, R extends TransferReply>(
  parts: ContentParts,
  {
    ask,
    move,
    repeatable,
  }: {
    /** Requests a URL: the first one, or one that replaces `old`. */
    readonly ask: (old?: A) => Promise<A>;
    /** Transfers the content. */
    readonly move: (asset: A) => Promise<R>;
    /** Whether the content can be transferred again. */
    readonly repeatable: boolean;
  },
): Promise<{ readonly asset: A; readonly reply: R; readonly isStuck: boolean }> => {
  const first = await ask();
  const isRenewed = hasExpired(parts, first);
  const asset = isRenewed ? await ask(first) : first;
  const reply = await move(asset);
  const isOver = !isRenewed && mayHaveExpired(parts, asset, reply.status);
  if (!isOver || !repeatable) return { asset, reply, isStuck: isOver };
  const second = await ask(asset);
  return { asset: second, reply: await move(second), isStuck: false };
};

/** Answers that say: not now. Nothing was transferred. */
const momentary: readonly number[] = [502, 503, 504];

const shortPauseMs = 500;
const longestPauseMs = 60_000;

/**
 * Whether a transfer that failed temporarily can be repeated while its URL is valid. Before
 * returning true, waits as long as the response requests (by default, 500 ms). Returns false if
 * that is more than a minute.
 *
 * @throws ConversationError `CANCELLED` or `TIMED_OUT` if the transfer ends in the meantime
 */
export const pauseBeforeRepeat = async (
  { clock }: ContentParts,
  { contentUrlExpiry }: SignedAddress,
  { status, headers }: TransferReply,
  transfer: SignedTransfer,
): Promise<boolean> => {
  if (!momentary.includes(status)) return false;
  const pauseMs = retryAfterMs(headers, clock.wall()) ?? shortPauseMs;
  const isTooLate =
    contentUrlExpiry !== undefined && contentUrlExpiry.getTime() <= clock.wall() + pauseMs;
  if (isTooLate || pauseMs > longestPauseMs) return false;
  try {
    await clock.sleep(pauseMs, transfer.signal);
  } catch (error) {
    throw transferFailure(transfer, error);
  }
  return true;
};

/** Returns the error for an unsuccessful response from a signed URL. */
export const refusedTransfer = (
  what: string,
  { status, headers }: TransferReply,
  { clock }: ContentParts,
): ConversationError => {
  const error = (code: "BAD_RESPONSE" | "UNAVAILABLE" | "REJECTED", text: string) =>
    new ConversationError(code, `Could not ${what}: the signed URL ${text}.`, { status });
  if (status < 400)
    return error(
      "BAD_RESPONSE",
      `responded with a redirect (${status}), which the client does not follow`,
    );
  if (status >= 500) {
    const asks = retryAfterText(headers, clock.wall());
    const when = asks === undefined ? "later" : `after the requested time (Retry-After: ${asks})`;
    return error("UNAVAILABLE", `returned ${status}. Try again ${when}`);
  }
  const rule = "the type or size may differ from those it was created for";
  return error("REJECTED", `refused the transfer (${status}): it may have expired, or ${rule}`);
};

const reportProgress = async (
  onProgress: OnProgress | undefined,
  progress: Parameters<OnProgress>[0],
): Promise<void> => {
  try {
    // A function that is async is waited for, so that its failure is not lost.
    await onProgress?.(progress);
  } catch (error) {
    const text =
      "Could not transfer an asset: onProgress failed; see the cause. The transfer was canceled.";
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  }
};

/**
 * Forwards chunks, reports progress, and fails unless the chunks total exactly `size` bytes.
 *
 * @param wrong creates the error for chunks with the wrong total
 */
export async function* counted(
  pieces: Pieces,
  {
    size,
    wrong,
    onProgress,
  }: {
    readonly size: number;
    readonly wrong: (rule: string) => Error;
    readonly onProgress?: OnProgress | undefined;
  },
): Pieces & AsyncGenerator<Uint8Array> {
  let transferred = 0;
  for await (const piece of pieces) {
    if (!types.isUint8Array(piece)) throw wrong("the stream returns something other than bytes");
    transferred += piece.byteLength;
    if (transferred > size) throw wrong(`it has more bytes than declared (${size})`);
    yield piece;
    await reportProgress(onProgress, { transferred, total: size });
  }
  if (transferred < size) throw wrong(`it has only ${transferred} of ${size} bytes`);
}
