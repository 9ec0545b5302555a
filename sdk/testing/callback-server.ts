import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject, textAt } from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import { callbackFailures } from "../runtime/callbacks.js";
import { errorText, type HubRecords, plainAddress } from "./checks.js";
import type { CallbackHandler, CallbackHandlers } from "./pulumi-runs.js";

/** What the token addresses of the account's authentications answer in a test: a token where it is looked for. */
export const tokenAnswers = async (records: HubRecords): Promise<ReadonlyMap<string, unknown>> => {
  const objects = await records.objects(authentication.collection);
  return new Map(
    objects.flatMap((object): [string, unknown][] => {
      const address = textAt(object, "oauth2", "tokenRequestUrl");
      if (address === undefined) return [];
      const path = textAt(object, "oauth2", "accessTokenPath") ?? "$.access_token";
      const names = [...path.matchAll(/[A-Za-z_][\w-]*/g)].map(([name]) => name);
      const answer = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), "test-token");
      return [[address, answer]];
    }),
  );
};

interface Failure {
  readonly line: string;
  /** Undefined if it is not known. */
  readonly conversationId: string | undefined;
}

/** What handlers of callbacks threw: they run apart from the test, which sees only what comes of it. */
class HandlerFailures {
  readonly #failures: Failure[] = [];
  readonly #published = (failure: unknown): void => {
    const { error, message } = isObject(failure) ? failure : {};
    const conversationId = textAt(message, "conversationId");
    // The handlers of every stack of this process are heard here: without a message it may be another's.
    if (conversationId !== undefined)
      this.#failures.push({ line: errorText(error), conversationId });
  };

  constructor() {
    subscribe(callbackFailures, this.#published);
  }

  /** Notes what a listener threw that is called directly. */
  add(address: string, error: unknown): void {
    this.#failures.push({ line: `${address}: ${errorText(error)}`, conversationId: undefined });
  }

  /** A line for each failure of a conversation, and for those of which it is not known. */
  of(conversationId: string | undefined): readonly string[] {
    const own = this.#failures.filter(
      (each) => each.conversationId === undefined || each.conversationId === conversationId,
    );
    // A message that is delivered again often fails again.
    return [...new Set(own.map(({ line }) => line))];
  }

  close(): void {
    unsubscribe(callbackFailures, this.#published);
  }
}

/** Answers the callbacks of an account in the place of those who answer them in production. */
export interface CallbackServer {
  /** Where the emulator really calls, for an address of the account. */
  readonly route: (address: string) => string;
  /** Says who answers from now on. */
  setHandlers(handlers: CallbackHandlers): void;
  /** Addresses that have a handler. */
  addresses(): readonly string[];
  /** Says what is answered to whoever fetches a token for a callback. */
  setTokenAnswers(answers: ReadonlyMap<string, unknown>): void;
  /** When every handler has done its work. */
  idle(): Promise<void>;
  /** What handlers threw in a conversation. */
  failures(conversationId: string | undefined): readonly string[];
  close(): Promise<void>;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const isOnThisMachine = (address: string): boolean =>
  URL.canParse(address) && loopback.test(new URL(address).hostname);

const answerOf = (response: ServerResponse, body?: unknown): void => {
  const text = body === undefined ? "" : JSON.stringify(body);
  response.writeHead(200, { "content-type": "application/json" }).end(text);
};

/** The address of the account that a request to a path was led here from. */
const addressIn = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

const pathOf = (address: string): string => {
  if (!URL.canParse(address)) return "/";
  const { pathname, search } = new URL(address);
  return pathname + search;
};

const handle = async (
  handler: CallbackHandler,
  address: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  // The handler sees the request as it would come to its own server.
  request.url = pathOf(address);
  await (typeof handler === "function"
    ? handler(request, response)
    : handler.node(request, response));
};

const answerFailed = (response: ServerResponse): void => {
  if (response.headersSent) response.destroy();
  else response.writeHead(500).end();
};

/** Starts it on any free port of the loopback interface. */
export const startCallbackServer = async (): Promise<CallbackServer> => {
  let handlers = new Map<string, CallbackHandler>();
  let tokens: ReadonlyMap<string, unknown> = new Map();
  const failures = new HandlerFailures();
  // Only the emulator knows it: others on this machine get no token and reach no handler.
  const base = `/${randomBytes(24).toString("hex")}/`;
  const server = createServer((request, response) => {
    const { url = "" } = request;
    if (!url.startsWith(base)) {
      request.resume();
      response.writeHead(404).end();
      return;
    }
    const target = addressIn(url.slice(base.length));
    const address = plainAddress(target);
    const handler = handlers.get(address);
    if (!handler) {
      request.resume();
      return answerOf(response, tokens.get(address));
    }
    handle(handler, target, request, response).catch((error: unknown) => {
      failures.add(address, error);
      answerFailed(response);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    route: (address) =>
      isOnThisMachine(address) && !handlers.has(plainAddress(address))
        ? address
        : `http://127.0.0.1:${port}${base}${encodeURIComponent(address)}`,
    setHandlers: (given) => {
      handlers = new Map(
        Object.entries(given).map(([address, one]) => [plainAddress(address), one]),
      );
    },
    addresses: () => [...handlers.keys()],
    setTokenAnswers: (answers) => {
      tokens = new Map([...answers].map(([address, answer]) => [plainAddress(address), answer]));
    },
    idle: async () => {
      for (const handler of handlers.values())
        if (typeof handler !== "function") await handler.idle();
    },
    failures: (conversationId) => failures.of(conversationId),
    close: async () => {
      failures.close();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
