import type { Dispatcher } from "undici";
import { unlessAborted } from "../../provider/kernel/clock.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { isObject } from "../../provider/kernel/json.js";
import {
  type CallEvent,
  connectionFault,
  observeAttempt,
  openDispatcher,
  proxyOf,
} from "../../provider/service/transport.js";
import { largestAsset } from "./asset-calls.js";
import { readAtMost } from "./read-at-most.js";
import { privateAddressCode, publicLookup } from "./signed-address.js";

/** A transfer to or from a validated signed URL. */
export interface SignedTransfer {
  /** Description of the transfer for messages, such as `upload asset 4f…`. */
  readonly what: string;
  readonly url: URL;
  readonly signal: AbortSignal;
}

/** Transfers content over its own connections, without a token and without following redirects. */
export interface ContentTransfer {
  /** Posts the content. @throws ConversationError unless the response is a 2xx */
  post(transfer: SignedTransfer, content: Uint8Array, contentType: string): Promise<void>;
  /** Gets the content, at most 10 MiB. @throws ConversationError unless the response is a 200 */
  get(transfer: SignedTransfer): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The codes of failures to connect, also through a proxy: nothing was sent. */
const unconnected =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_(CONNECT_TIMEOUT|ABORTED))$/;

/** The error for a transfer without a response, which shows only the URL's host. */
const transferFailure = (
  { what, url, signal }: SignedTransfer,
  cause: unknown,
): ConversationError => {
  const reason: unknown = signal.aborted ? signal.reason : cause;
  if (reason instanceof ConversationError) return reason;
  if (isObject(cause) && cause.code === privateAddressCode) {
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
  const proxy = proxyOf(url, process.env);
  const sent = !(isObject(cause) && unconnected.test(String(cause.code)));
  const fault = connectionFault(
    { cause: reason, sent, ...(proxy === undefined ? {} : { proxy }) },
    url.origin,
  );
  return new ConversationError(fault.code, `Could not ${what}: ${fault.text}.`);
};

/** The error for an unsuccessful response. The body may hold the address, so it is not quoted. */
const transferRefusal = ({ what }: SignedTransfer, status: number): ConversationError => {
  const error = (code: "BAD_RESPONSE" | "UNAVAILABLE" | "REJECTED", text: string) =>
    new ConversationError(code, `Could not ${what}: the signed URL ${text}.`, { status });
  if (status < 400) return error("BAD_RESPONSE", `responded with ${status}, without the content`);
  if (status >= 500) return error("UNAVAILABLE", `returned ${status}. Try again later`);
  const rule = "the type or size may differ from those it was created for";
  return error("REJECTED", `refused the transfer (${status}): it may have expired, or ${rule}`);
};

/** Returns a content transfer. It loads the HTTP client and opens connections on first use. */
export const openContentTransfer = (
  onEvent: (event: CallEvent) => void,
  lookup?: Parameters<typeof publicLookup>[0],
): ContentTransfer => {
  let opened: Promise<Dispatcher> | undefined;
  const connect = { lookup: publicLookup(lookup) };
  const timeouts = { headersTimeout: 60_000, bodyTimeout: 30_000 } as const;
  const send = async <T>(
    transfer: SignedTransfer,
    options: Pick<Dispatcher.RequestOptions, "headers" | "body"> & {
      readonly method: "GET" | "POST";
    },
    read: (answer: Dispatcher.ResponseData) => Promise<T>,
  ): Promise<T> => {
    const { url, signal } = transfer;
    const call = { method: options.method, template: "{contentUrl}" };
    try {
      const { request } = await import("undici");
      opened ??= openDispatcher(process.env, { connections: 8 }, connect);
      const dispatcher = await opened;
      const { answer } = await observeAttempt(onEvent, { call, attempt: 1 }, async () => {
        // An aborted call that waits for a connection would not end before its turn (undici 8.12).
        const asked = request(url, { ...timeouts, ...options, dispatcher, signal });
        const answer = await unlessAborted(signal, asked);
        return { answer, status: answer.statusCode };
      });
      // Reported to the reader; without a listener it would end the process.
      answer.body.on("error", () => {});
      try {
        return await read(answer);
      } finally {
        answer.body.destroy();
      }
    } catch (error) {
      throw transferFailure(transfer, error);
    }
  };
  return {
    post: (transfer, body, contentType) => {
      const headers = { "content-type": contentType, "content-length": `${body.byteLength}` };
      return send(transfer, { method: "POST", headers, body }, async ({ statusCode }) => {
        if (statusCode > 299) throw transferRefusal(transfer, statusCode);
      });
    },
    get: (transfer) => {
      const headers = { "accept-encoding": "identity" };
      return send(transfer, { method: "GET", headers }, async ({ statusCode, body }) => {
        if (statusCode !== 200) throw transferRefusal(transfer, statusCode);
        const content = await readAtMost(body, largestAsset);
        if (content) return content;
        throw new ConversationError(
          "BAD_RESPONSE",
          `Could not ${transfer.what}: the content has more than ${largestAsset} bytes.`,
        );
      });
    },
    close: async () => (await opened?.catch(() => undefined))?.destroy(),
  };
};
