import type { Dispatcher } from "undici";
import { contentDispatchers, type Lookup } from "./content-dispatchers.js";
import { type Transfer, transferFailure } from "./transfer-failure.js";

/** Content on its way: pieces of bytes. */
export type Pieces = AsyncIterable<Uint8Array>;

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

export interface Upload extends Transfer {
  readonly contentType: string;
  readonly size: number;
  readonly pieces: Pieces;
}

/** Carries contents: no token, no redirects, connections of its own. */
export interface ContentTransfer {
  /** Posts the content. Gives back the answer, whatever it is. */
  upload(upload: Upload): Promise<TransferReply>;
  /** Gets the content, whatever the status is. */
  download(transfer: Transfer): Promise<ContentAnswer>;
  close(): Promise<void>;
}

const timeouts = { headersTimeout: 60_000, bodyTimeout: 30_000 } as const;

/** An answer that is not wanted is read so far, and so long, for the sake of its connection. */
const mostDropped = 64 * 1024;
const dropWithinMs = 1_000;

type Body = Dispatcher.ResponseData["body"];

const drained = async (body: Body): Promise<void> => {
  // The answer says nothing that a message may quote: it may hold the address.
  await body
    .dump({ limit: mostDropped, signal: AbortSignal.timeout(dropWithinMs) })
    .catch(() => {});
};

async function* guarded(transfer: Transfer, body: Pieces): Pieces & AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw transferFailure(transfer, error);
  }
}

const lengthOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;

const contentAnswer = (
  transfer: Transfer,
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
