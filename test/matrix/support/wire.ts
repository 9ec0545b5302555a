import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { closeServer, listenHere, originOf } from "../../support/loopback-server.js";

/** An answer on its way from the emulator to the client. */
export interface Passing {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Arrived {
  readonly body: string;
  readonly authorization: string;
}

/** What happens to a call between the client and the emulator. */
type Trouble =
  /** The connection is reset; the emulator never sees the call. */
  | { readonly do: "reset-before" }
  /** The emulator acts, then the connection is reset without an answer; after these bytes, where there are any. */
  | { readonly do: "reset-after"; readonly interim?: readonly string[] }
  /** Only on a connection that was used before: it is reset as the call arrives. */
  | { readonly do: "reset-used" }
  /** The client gets another answer than the emulator's. */
  | { readonly do: "answer"; readonly with: (answer: Passing, call: Arrived) => Passing }
  /** Runs when the call, or the first part of its answer, has passed; all goes on as usual. */
  | { readonly do: "watch"; readonly at: "call" | "answer"; readonly run: () => void };

/** A trouble, where it strikes (`POST /channels`, `TOKEN`), and how often. Default: once. */
type WireRule = Trouble & { readonly on: string; readonly times?: number };

/** What a call is named after: method and path template, or `TOKEN`. */
export const endpointOf = (method: string, url: string): string => {
  const [, collection, id] = /\/conversation\/v3\/([^/?]+)(\/[^/?]+)?/.exec(url) ?? [];
  return collection ? `${method} /${collection}${id ? "/{id}" : ""}` : "TOKEN";
};

/** A call that is bent: `channels`, and the id where it is about one object. */
export interface BentCall {
  readonly method: string;
  readonly collection: string;
  readonly id: string | undefined;
}

export interface BentAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly date?: string | undefined;
  /** Sent as it is, in place of the body. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a service differs from the emulator behind the relay, in every call that no trouble strikes. */
export interface Ways {
  /** What the service makes of a body before it stores it. */
  readonly stored?: (body: JsonObject, call: BentCall) => JsonObject;
  /** How it shows an object, in lists and alone. */
  readonly shown?: (object: JsonObject, call: BentCall) => JsonObject;
  /** Anything else; `lost`: the connection ends after the effect. */
  readonly answer?: (answer: BentAnswer, call: BentCall) => BentAnswer | "lost";
}

/** A relay in front of the emulator that spoils connections and answers on demand. */
export class Wire implements AsyncDisposable {
  /** Calls that arrived, in order, such as `POST /channels`. */
  readonly arrived: string[] = [];
  /** Every Authorization header that arrived. */
  readonly authorizations = new Set<string>();
  /** How the service differs from the emulator; for good. */
  ways: Ways | undefined;
  #target = new URL("http://127.0.0.1:1");
  #rules: { rule: WireRule; left: number }[] = [];
  readonly #used = new WeakSet<Socket>();
  readonly #server = createServer((call, answer) => {
    this.#relay(call, answer).catch(() => answer.destroy());
  });

  static async open(): Promise<Wire> {
    const wire = new Wire();
    await listenHere(wire.#server);
    return wire;
  }

  get origin(): string {
    return originOf(this.#server);
  }

  leadTo(address: string): void {
    this.#target = new URL(address);
  }

  add(...rules: readonly WireRule[]): void {
    this.#rules.push(...rules.map((rule) => ({ rule, left: rule.times ?? 1 })));
  }

  clear(): void {
    this.#rules = [];
  }

  #take(on: string, used: boolean): WireRule | undefined {
    const armed = this.#rules.find(
      ({ rule, left }) => rule.on === on && left > 0 && (rule.do !== "reset-used" || used),
    );
    if (armed) armed.left -= 1;
    return armed?.rule;
  }

  async #relay(call: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = "", url = "/", socket } = call;
    const authorization = call.headers.authorization ?? "";
    const name = endpointOf(method, url);
    this.arrived.push(name);
    this.authorizations.add(authorization);
    const rule = this.#take(name, this.#used.has(socket));
    this.#used.add(socket);
    const [, collection = "", id] = /\/v\d+\/([^/?]+)(?:\/([^/?]+))?/.exec(url) ?? [];
    const about = { method, collection, id };
    const body = storedBody(await buffer(call), about, this.ways);
    if (rule?.do === "reset-before" || rule?.do === "reset-used") {
      socket.resetAndDestroy();
      return;
    }
    const behind = await this.#ask(call, body, answer, rule);
    if (rule?.do === "reset-after") {
      await buffer(behind);
      const { interim = [] } = rule;
      if (interim.length === 0) socket.resetAndDestroy();
      else socket.write(interim.join(""), () => socket.destroy());
    } else if (rule?.do === "answer") {
      await replaceAnswer(rule, behind, answer, { body: body.toString("utf8"), authorization });
    } else if (this.ways) await bendAnswer(this.ways, behind, answer, about);
    else pass(behind, answer, rule);
  }

  #ask(call: IncomingMessage, body: Buffer, answer: ServerResponse, rule: WireRule | undefined) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const { hostname, port } = this.#target;
      const { method, url } = call;
      const headers = { ...call.headers, "content-length": String(body.length) };
      const asked = request({ hostname, port, method, path: url, headers, agent: false }, resolve);
      asked.on("error", reject);
      answer.on("close", () => asked.destroy());
      asked.end(body, () => {
        if (rule?.do === "watch" && rule.at === "call") rule.run();
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeServer(this.#server);
  }
}

const replaceAnswer = async (
  rule: WireRule & { do: "answer" },
  behind: IncomingMessage,
  answer: ServerResponse,
  call: Arrived,
): Promise<void> => {
  const text = (await buffer(behind)).toString("utf8");
  const changed = rule.with({ status: behind.statusCode ?? 0, text }, call);
  answer.writeHead(changed.status, { "content-type": "application/json", ...changed.headers });
  answer.end(changed.status === 204 ? undefined : changed.text);
};

const storedBody = (body: Buffer, about: BentCall, ways?: Ways): Buffer =>
  body.length > 0 && about.collection !== "" && ways?.stored
    ? Buffer.from(JSON.stringify(ways.stored(JSON.parse(body.toString()), about)))
    : body;

const shownBody = (body: unknown, about: BentCall, { shown }: Ways): unknown => {
  if (!shown || about.method !== "GET" || !isObject(body)) return body;
  if (about.id !== undefined) return "id" in body ? shown(body, about) : body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((item) => shown(item, about)) : value,
    ]),
  );
};

const bendAnswer = async (
  ways: Ways,
  behind: IncomingMessage,
  answer: ServerResponse,
  about: BentCall,
): Promise<void> => {
  const given = (await buffer(behind)).toString("utf8");
  const plain: BentAnswer = {
    status: behind.statusCode ?? 0,
    body: shownBody(given === "" ? undefined : JSON.parse(given), about, ways),
    date: behind.headers.date,
  };
  const bent = ways.answer ? ways.answer(plain, about) : plain;
  if (bent === "lost") {
    answer.destroy();
    return;
  }
  const { status, body, date, text, headers } = bent;
  const content = text ?? (body === undefined ? "" : JSON.stringify(body));
  answer.sendDate = false;
  answer.writeHead(status, {
    ...(date ? { date } : {}),
    ...(content ? { "content-type": "application/json" } : {}),
    ...headers,
  });
  answer.end(content);
};

/** What was written has been read at the other end, in this same process. */
const received = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
};

/** As it is, a cut-off end included. */
const pass = (
  behind: IncomingMessage,
  answer: ServerResponse,
  rule: WireRule | undefined,
): void => {
  answer.writeHead(behind.statusCode ?? 502, behind.headers);
  answer.flushHeaders();
  behind.on("data", (chunk: Buffer) => {
    const watched = rule?.do === "watch" && rule.at === "answer";
    answer.write(chunk, () => watched && void received().then(rule.run));
  });
  behind.on("end", () => answer.end());
  behind.on("error", () => answer.destroy());
};
