import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { timestamp } from "../../clock.js";
import type { Journal } from "../../journal.js";

/** Where contents go up and down, below the origin. */
export const contentPath = "/assets-content";

/** What a signed URL is for: POST takes the content up, GET brings it down. */
export type TransferMethod = "POST" | "GET";

/** A signed URL as the asset operations give it. */
export interface SignedUrl {
  readonly contentUrl: string;
  /** ISO 8601, GMT, on the emulator's clock. */
  readonly contentUrlExpiry: string;
}

const section = "signing key";

/** The origin as the caller knows it. */
export const originFor = ({ headers, socket }: IncomingMessage): string => {
  const { host = "" } = headers;
  const isHost = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host);
  const scheme = socket instanceof TLSSocket ? "https" : "http";
  return `${scheme}://${isHost ? host : `127.0.0.1:${socket.localPort}`}`;
};

/** Callers name the emulator in a few ways; whoever makes names up fills no memory. */
const mostOrigins = 100;

/** Makes and checks URLs that need no token: they are good by their signature, for a time. */
export class SignedUrls {
  readonly #key: Buffer;
  /** Origins of the URLs that were given out. */
  readonly #origins = new Set<string>();

  /** The key is kept, so that a URL outlives the process as long as its time lasts. */
  constructor(journal: Journal) {
    const [saved] = journal.read(section);
    const text = saved ? String(saved[1]) : randomBytes(32).toString("base64");
    if (!saved) journal.write(section, "key", text);
    this.#key = Buffer.from(text, "base64");
  }

  /** @param until when it ends, in milliseconds since 1970 */
  make(request: IncomingMessage, method: TransferMethod, id: string, until: number): SignedUrl {
    const origin = originFor(request);
    if (this.#origins.size < mostOrigins) this.#origins.add(origin.toLowerCase());
    const expires = String(Math.floor(until));
    const query = new URLSearchParams({
      method,
      expires,
      signature: this.#sign(method, id, expires),
    });
    return {
      contentUrl: `${origin}${contentPath}/${id}?${query}`,
      contentUrlExpiry: timestamp(until),
    };
  }

  /** The id of the asset that one of the emulator's own URLs is for; undefined for any other URL. */
  assetIdIn(url: string | undefined, request: IncomingMessage): string | undefined {
    if (url === undefined || !URL.canParse(url)) return undefined;
    const { origin, pathname } = new URL(url);
    const isOwn = this.#origins.has(origin) || origin === originFor(request).toLowerCase();
    return isOwn && pathname.startsWith(`${contentPath}/`)
      ? pathname.slice(contentPath.length + 1)
      : undefined;
  }

  /** Why a URL is not good now for this method; undefined where it is. */
  problemOf(
    method: string,
    id: string,
    query: URLSearchParams,
    now: number,
  ): "altered" | "expired" | undefined {
    const expires = query.get("expires") ?? "";
    // Compared as text: several texts decode to the same bytes, and one of them is an altered one.
    const signature = Buffer.from(query.get("signature") ?? "");
    const own = Buffer.from(this.#sign(method, id, expires));
    const isOwn = signature.length === own.length && timingSafeEqual(signature, own);
    const isWhole = query.size === 3 && query.get("method") === method;
    if (!isOwn || !isWhole) return "altered";
    return Number(expires) > now ? undefined : "expired";
  }

  #sign(method: string, id: string, expires: string): string {
    const signed = `${method}\n${id}\n${expires}`;
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}
