import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, textAt } from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import { isLocal } from "../../provider/service/addresses.js";
import { callbackFailures } from "../runtime/callback-failures.js";
import type { Callbacks } from "../runtime/callbacks.js";
import { computeIdleTimeouts } from "../runtime/serve-callbacks.js";
import { errorText, type HubRecords, stripAddress } from "./checks.js";

/** The handler for a callback in a test: one from `callbacks`, or a node:http listener. */
export type CallbackHandler = Pick<Callbacks, "node" | "idle"> | RequestListener;

/** Handlers, keyed by callback URL as written in the program. */
export type CallbackHandlers = Readonly<Record<string, CallbackHandler>>;

/** Returns a test response for each of the account's token URLs: a token at the configured path. */
export const listTokenAnswers = async (
  records: HubRecords,
): Promise<ReadonlyMap<string, unknown>> => {
  const objects = await records.objects(authentication.collection);
  return new Map(
    objects.flatMap((object): [string, unknown][] => {
      const address = textAt(object, "oauth2", "tokenRequestUrl");
      if (address === undefined) return [];
      const path = textAt(object, "oauth2", "accessTokenPath") ?? "$.access_token";
      const steps = [...path.matchAll(/[\w-]+/g)].map(([step]) => step);
      const answer = steps.reduceRight<unknown>(
        (inner, step) => Object.assign(/^\d+$/.test(step) ? [] : {}, { [step]: inner }),
        "test-token",
      );
      return [[address, answer]];
    }),
  );
};

/** What a handler of a callback threw; for which conversation is not always known. */
interface Failure {
  readonly line: string;
  readonly conversationId: string | undefined;
}

/** A server that receives an account's callbacks in a test, in place of the production servers. */
export type CallbackServer = Awaited<ReturnType<typeof startCallbackServer>>;

/** The address of the account that a request to a path was led here from. */
const decodeAddress = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

const findPath = (address: string): string => {
  if (!URL.canParse(address)) return "/";
  const { pathname, search } = new URL(address);
  return pathname + search;
};

/** Starts a callback server on a free port of the loopback interface. */
export const startCallbackServer = async () => {
  let handlers = new Map<string, CallbackHandler>();
  let tokens: ReadonlyMap<string, unknown> = new Map();
  // Handlers run apart from the test, which sees only what comes of it.
  const failures: Failure[] = [];
  const published = (failure: unknown): void => {
    const { error, message } = isObject(failure) ? failure : {};
    const conversationId = textAt(message, "conversationId");
    // The handlers of every stack of this process are heard here: without a message it may be another's.
    if (conversationId !== undefined) failures.push({ line: errorText(error), conversationId });
  };
  subscribe(callbackFailures, published);
  // Only the emulator knows it: others on this machine get no token and reach no handler.
  const base = `/${randomBytes(24).toString("hex")}/`;
  const server = createServer(computeIdleTimeouts(), (request, response) => {
    const { url = "" } = request;
    if (!url.startsWith(base)) {
      request.resume();
      response.writeHead(404).end();
      return;
    }
    const target = decodeAddress(url.slice(base.length));
    const address = stripAddress(target);
    const handler = handlers.get(address);
    if (!handler) {
      request.resume();
      const token = tokens.get(address);
      if (token === undefined) response.writeHead(202).end();
      else
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(token));
      return;
    }
    // The handler sees the request as it would come to its own server.
    request.url = findPath(target);
    const answered = async (): Promise<void> =>
      typeof handler === "function" ? handler(request, response) : handler.node(request, response);
    answered().catch((error: unknown) => {
      failures.push({ line: `${address}: ${errorText(error)}`, conversationId: undefined });
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    /** The actual destination of a call to a URL of the account. */
    route: (address: string): string =>
      isLocal(address) && !handlers.has(stripAddress(address))
        ? address
        : `http://127.0.0.1:${port}${base}${encodeURIComponent(address)}`,
    /** Sets the handlers for the calls that follow. */
    setHandlers: (given: CallbackHandlers): void => {
      handlers = new Map(
        Object.entries(given).map(([address, one]) => [stripAddress(address), one]),
      );
    },
    /** URLs that have a handler. */
    addresses: (): readonly string[] => [...handlers.keys()],
    /** Sets the responses to token requests for callbacks. */
    setTokenAnswers: (answers: ReadonlyMap<string, unknown>): void => {
      tokens = new Map([...answers].map(([address, answer]) => [stripAddress(address), answer]));
    },
    /** Resolves when every handler has finished. */
    idle: async (): Promise<void> => {
      for (const handler of handlers.values())
        if (typeof handler !== "function") await handler.idle();
    },
    /** One line for each handler failure in a conversation, and for failures without a known conversation. */
    failures: (conversationId: string | undefined): readonly string[] => {
      const own = failures.filter(
        (each) => each.conversationId === undefined || each.conversationId === conversationId,
      );
      // A message that is delivered again often fails again.
      return [...new Set(own.map(({ line }) => line))];
    },
    close: async (): Promise<void> => {
      unsubscribe(callbackFailures, published);
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
