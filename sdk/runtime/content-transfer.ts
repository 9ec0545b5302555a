import type { Dispatcher } from "undici";
import { ConversationError, isConversationError } from "../../provider/service/errors.js";
import { isLoopback } from "../../provider/service/setting-rules.js";
import { faultOf } from "../../provider/service/transport-faults.js";
import { PrivateAddressError, publicLookup } from "./signed-address.js";

/** Content on its way: pieces of bytes. */
export type Pieces = AsyncIterable<Uint8Array>;

/** What a signed address answered. */
export interface ContentAnswer {
  readonly status: number;
  /** `content-length`, where it was told. */
  readonly length: number | undefined;
  readonly pieces: Pieces;
  /** Drops the content, which frees the connection. */
  discard(): Promise<void>;
}

/** One transfer to or from a signed address, which has been checked. */
export interface Transfer {
  /** Such as `upload asset 4f…`, for messages. */
  readonly what: string;
  readonly url: URL;
  readonly signal: AbortSignal;
}

export interface Upload extends Transfer {
  readonly contentType: string;
  readonly size: number;
  readonly pieces: Pieces;
}

/** Carries contents: no token, no redirects, connections of its own. */
export interface ContentTransfer {
  /** Posts the content. Gives back the status, whatever it is. */
  upload(upload: Upload): Promise<number>;
  /** Gets the content, whatever the status is. */
  download(transfer: Transfer): Promise<ContentAnswer>;
  close(): Promise<void>;
}

const timeouts = { headersTimeout: 60_000, bodyTimeout: 30_000 } as const;

/** The lookup of the system, or of a test. */
type Lookup = Parameters<typeof publicLookup>[0];

/** One dispatcher for this machine, one for everywhere else; the latter goes through a proxy where one is set. */
const contentDispatchers = (lookup: Lookup) => {
  const open = new Map<string, Promise<Dispatcher>>();
  const made = async (local: boolean): Promise<Dispatcher> => {
    const { Agent, EnvHttpProxyAgent } = await import("undici");
    const limits = { connections: 8, pipelining: 1, allowH2: false } as const;
    const connect = { timeout: 10_000 };
    return local
      ? new Agent({ ...limits, connect })
      : new EnvHttpProxyAgent({ ...limits, connect: { ...connect, lookup: publicLookup(lookup) } });
  };
  return {
    of: (url: URL): Promise<Dispatcher> => {
      const local = isLoopback(url.hostname);
      const known = open.get(`${local}`) ?? made(local);
      open.set(`${local}`, known);
      return known;
    },
    close: async () => {
      const closing = [...open.values()];
      open.clear();
      for (const dispatcher of await Promise.all(closing)) await dispatcher.destroy();
    },
  };
};

const isPrivate = (error: unknown, depth = 0): boolean => {
  if (error instanceof PrivateAddressError) return true;
  if (!(error instanceof Error) || depth > 3) return false;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some((cause) => isPrivate(cause, depth + 1));
};

/** What went wrong on the way, in words that show nothing of the address but its host. */
const failure = ({ what, url, signal }: Transfer, cause: unknown): ConversationError => {
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
  const fault = faultOf({ cause: reason, sent: true }, url.origin);
  return new ConversationError(fault.code, `Could not ${what}: ${fault.text}.`);
};

const drained = async (body: Dispatcher.ResponseData["body"]): Promise<void> => {
  // The answer says nothing that a message may quote: it may hold the address.
  await body.dump({ limit: 64 * 1024 }).catch(() => {});
};

async function* guarded(transfer: Transfer, body: Pieces): Pieces & AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(transfer, error);
  }
}

const lengthOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;

/** Transfers over sockets. Loads the HTTP client and opens connections on first use. */
export const contentTransfer = (lookup?: Lookup): ContentTransfer => {
  const dispatchers = contentDispatchers(lookup);
  const send = async (
    transfer: Transfer,
    options: Pick<Dispatcher.RequestOptions, "method" | "headers" | "body">,
  ): Promise<Dispatcher.ResponseData> => {
    try {
      const { request } = await import("undici");
      const dispatcher = await dispatchers.of(transfer.url);
      const { signal } = transfer;
      return await request(transfer.url, { ...timeouts, ...options, dispatcher, signal });
    } catch (error) {
      throw failure(transfer, error);
    }
  };
  return {
    upload: async (upload) => {
      const { Readable } = await import("node:stream");
      const { statusCode, body } = await send(upload, {
        method: "POST",
        headers: { "content-type": upload.contentType, "content-length": `${upload.size}` },
        body: Readable.from(upload.pieces, { objectMode: false }),
      });
      await drained(body);
      return statusCode;
    },
    download: async (transfer) => {
      const { statusCode, headers, body } = await send(transfer, {
        method: "GET",
        headers: { "accept-encoding": "identity" },
      });
      const length = lengthOf(headers["content-length"]);
      const pieces = guarded(transfer, body);
      return { status: statusCode, length, pieces, discard: () => drained(body) };
    },
    close: () => dispatchers.close(),
  };
};
