import type { Dispatcher } from "undici";
import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import { proxyAgent } from "../../../provider/service/http/proxy-agent.js";
import { proxyFailure } from "../../../provider/service/http/proxy-failure.js";
import { type Dispatchers, dispatchersBy } from "../../../provider/service/http/transport.js";
import { connectionFault } from "../../../provider/service/http/transport-faults.js";
import { isLoopback } from "../../../provider/service/settings/setting-rules.js";
import { PrivateAddressError, publicLookup } from "./signed-address.js";

/** Content on its way: pieces of bytes. */
export type Pieces = AsyncIterable<Uint8Array>;

/** One transfer to or from a signed address, which has been checked. */
export interface SignedTransfer {
  /** Such as `upload asset 4f…`, for messages. */
  readonly what: string;
  readonly url: URL;
  readonly signal: AbortSignal;
}

/** What a signed address answered, without its content. */
export interface TransferReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What a signed address answered to a download. Whoever has it must release it, read or not. */
export interface ContentAnswer extends TransferReply {
  /** `content-length`, where it was told. */
  readonly length: number | undefined;
  readonly pieces: Pieces;
  /** Drops a short rest of the content, so that the connection can be used again. */
  discard(): Promise<void>;
  /** Gives the connection back at once, whatever has been read: one that is in use is ended. */
  release(): void;
}

export interface Upload extends SignedTransfer {
  readonly contentType: string;
  readonly size: number;
  readonly pieces: Pieces;
}

/** Carries contents: no token, no redirects, connections of its own. */
export interface ContentTransfer {
  /** Posts the content. Gives back the answer, whatever it is. */
  upload(upload: Upload): Promise<TransferReply>;
  /** Gets the content, whatever the status is. */
  download(transfer: SignedTransfer): Promise<ContentAnswer>;
  close(): Promise<void>;
}

/** Fails when a signal ends, with its reason. */
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
 * What went wrong on the way, in words that show nothing of the address but its host: the caller's
 * own failure as it is, else `CANCELLED`, `TIMED_OUT`, `BAD_RESPONSE` or `UNREACHABLE`.
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
      `Could not ${what}: the host ${url.host} of the address that the service gave leads to this machine or a private network. Nothing was transferred.`,
      { permanent: true },
    );
  }
  const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
  if (signal.aborted && !isTimeout) {
    return new ConversationError("CANCELLED", `Could not ${what}: it was given up.`);
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
  // Told through the pieces; without a listener it would end the process.
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

/**
 * Connections to signed addresses, eight at most to each host: one dispatcher for this machine, one
 * for everywhere else; the latter goes through a proxy where one is set.
 */
const contentDispatchers = (lookup: NameLookup): Dispatchers => {
  const isLocal = ({ hostname }: URL): boolean => isLoopback(hostname);
  return dispatchersBy(
    (url) => `${isLocal(url)}`,
    async (url) => {
      const { Agent } = await import("undici");
      const limits = { connections: 8, pipelining: 1, allowH2: false } as const;
      const connect = { timeout: 10_000 };
      if (isLocal(url)) return new Agent({ ...limits, connect });
      const checked = { ...connect, lookup: publicLookup(lookup) };
      return proxyAgent({ ...limits, connect: checked });
    },
  );
};

/** Transfers over sockets. Loads the HTTP client and opens connections on first use. */
export const contentTransfer = (lookup?: NameLookup): ContentTransfer => {
  const dispatchers = contentDispatchers(lookup);
  const send = async (
    transfer: SignedTransfer,
    options: Pick<Dispatcher.RequestOptions, "method" | "headers" | "body">,
  ): Promise<Dispatcher.ResponseData> => {
    try {
      const { request } = await import("undici");
      const dispatcher = await dispatchers.of(transfer.url);
      const { signal } = transfer;
      return await request(transfer.url, { ...timeouts, ...options, dispatcher, signal });
    } catch (error) {
      throw transferFailure(transfer, error);
    }
  };
  return {
    upload: async (upload) => {
      const { Readable } = await import("node:stream");
      const { statusCode, headers, body } = await send(upload, {
        method: "POST",
        headers: { "content-type": upload.contentType, "content-length": `${upload.size}` },
        body: Readable.from(upload.pieces, { objectMode: false }),
      });
      await drained(body);
      return { status: statusCode, headers };
    },
    download: async (transfer) => {
      const headers = { "accept-encoding": "identity" };
      return contentAnswer(transfer, await send(transfer, { method: "GET", headers }));
    },
    close: () => dispatchers.close(),
  };
};
