import {
  type HttpRequest,
  type HttpResponse,
  httpTransport,
  type Transport,
  TransportFailure,
} from "../../provider/service/transport.js";
import type { CallFault } from "./scenario.js";

/** The process is gone: nothing is answered any more, and nobody listens. */
export class Killed extends Error {}

interface FaultyTransport extends Transport {
  /** Rejects with {@link Killed} at the moment of the kill. */
  readonly death: Promise<never>;
  /** Faults and kills of the plan that came to pass so far. */
  readonly struck: { faults: number; kills: number };
  /** Method and address of every call so far, ids left out. */
  readonly calls: readonly string[];
  /** Ids of objects of which the service said clearly that it made them. */
  readonly made: readonly string[];
}

interface Plan {
  readonly faults: readonly CallFault[];
  readonly kill?: { readonly call: number; readonly acted: boolean } | undefined;
  /** What every list of the service holds besides. */
  readonly list?: (response: HttpResponse) => HttpResponse;
}

const never = new Promise<never>(() => undefined);
const cut = (): TransportFailure => new TransportFailure(true, new Error("socket hang up"));
const answer = (status: number): HttpResponse => ({
  status,
  headers: {},
  text: `{"code":"${status}-100","developerMessage":"on purpose"}`,
});

/** As `PUT /conversation/v3/channels/{id}`. */
const isItem = ({ url }: HttpRequest): boolean => /\/[0-9a-f-]{36}$/.test(url);

class Counted {
  readonly #fault: CallFault;
  #calls = 0;

  constructor(fault: CallFault) {
    this.#fault = fault;
  }

  strikes(request: HttpRequest): CallFault["kind"] | undefined {
    const { on, call, lasting, kind } = this.#fault;
    const isRead = request.method === "GET";
    if (on && !(isRead && isItem(request) === (on === "item"))) return undefined;
    const place = this.#calls;
    this.#calls += 1;
    return place === call || (lasting && place > call) ? kind : undefined;
  }
}

const nameOf = ({ method, url }: HttpRequest): string =>
  `${method} ${new URL(url).pathname.replace(/[0-9a-f-]{36}/, "{id}")}`;

/**
 * Real sockets, with faults and a kill at planned calls. Calls for a token are not counted.
 *
 * @param earlier answers of lists so far, kept over all steps of a scenario
 */
export const faultyTransport = (
  { faults, kill, list = (response) => response }: Plan,
  tokenUrls: readonly string[],
  earlier: Map<string, HttpResponse>,
): FaultyTransport => {
  const inner = httpTransport();
  const struck = { faults: 0, kills: 0 };
  const calls: string[] = [];
  const made: string[] = [];
  const counted = faults.map((fault) => new Counted(fault));
  let isDead = false;
  const { promise: death, reject: die } = Promise.withResolvers<never>();
  death.catch(() => undefined);

  const sent = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await inner.send(request);
    if (request.method !== "GET" || response.status !== 200) return response;
    const shown = isItem(request) ? response : list(response);
    earlier.set(request.url, shown);
    return shown;
  };

  /** What was answered before, but at the time of now. */
  const stale = async (request: HttpRequest): Promise<HttpResponse> => {
    const before = earlier.get(request.url);
    if (!before) return sent(request);
    const { headers } = await inner.send(request);
    return {
      ...before,
      headers: { ...before.headers, ...(headers.date ? { date: headers.date } : {}) },
    };
  };

  const spoiled = async (
    kind: CallFault["kind"] | undefined,
    request: HttpRequest,
  ): Promise<HttpResponse> => {
    switch (kind) {
      case "cut-before":
        throw cut();
      case "503-before":
        return answer(503);
      case "429":
        return answer(429);
      case "forbidden":
        return answer(403);
      case "refused":
        return request.method === "GET" ? sent(request) : answer(400);
      case "cut-after":
        await sent(request);
        throw cut();
      case "500-after":
        await sent(request);
        return answer(500);
      case "broken-answer": {
        const response = await sent(request);
        return { ...response, text: response.text.slice(0, 3), broken: new Error("closed") };
      }
      case "stale-list":
        return request.method === "GET" ? stale(request) : sent(request);
      default:
        return sent(request);
    }
  };

  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    if (isDead) return never;
    if (tokenUrls.includes(request.url)) return inner.send(request);
    const call = calls.length;
    calls.push(nameOf(request));
    if (kill?.call === call) {
      struck.kills += 1;
      isDead = true;
      if (kill.acted) await inner.send(request);
      die(new Killed());
      return never;
    }
    const [fault] = counted.flatMap((each) => each.strikes(request) ?? []);
    if (fault) struck.faults += 1;
    const response = await spoiled(fault, request);
    if (request.method === "POST" && response.status === 201 && !response.broken)
      made.push(String(JSON.parse(response.text).id));
    return response;
  };
  return { send, close: () => inner.close(), death, struck, calls, made };
};
