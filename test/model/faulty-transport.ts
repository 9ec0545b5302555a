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

export interface FaultyTransport extends Transport {
  /** Rejects with {@link Killed} at the moment of the kill. */
  readonly death: Promise<never>;
}

interface Plan {
  readonly faults: readonly CallFault[];
  readonly kill?: { readonly call: number; readonly acted: boolean } | undefined;
}

const never = new Promise<never>(() => undefined);
const cut = (): TransportFailure => new TransportFailure(true, new Error("socket hang up"));
const answer = (status: number): HttpResponse => ({
  status,
  headers: {},
  text: `{"code":"${status}-100","developerMessage":"on purpose"}`,
});

/**
 * Real sockets, with faults and a kill at planned calls. Calls for a token are not counted.
 *
 * @param earlier answers of lists so far, kept over all steps of a scenario
 */
export const faultyTransport = (
  { faults, kill }: Plan,
  tokenUrl: string,
  earlier: Map<string, HttpResponse>,
): FaultyTransport => {
  const inner = httpTransport();
  let calls = 0;
  let isDead = false;
  let die: (error: Killed) => void = () => undefined;
  const death = new Promise<never>((_, reject) => {
    die = reject;
  });
  death.catch(() => undefined);

  const sent = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await inner.send(request);
    if (request.method === "GET" && response.status === 200) earlier.set(request.url, response);
    return response;
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
        return (request.method === "GET" && earlier.get(request.url)) || sent(request);
      default:
        return sent(request);
    }
  };

  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    if (isDead) return never;
    if (request.url === tokenUrl) return inner.send(request);
    const call = calls;
    calls += 1;
    if (kill?.call === call) {
      isDead = true;
      if (kill.acted) await inner.send(request);
      die(new Killed());
      return never;
    }
    return spoiled(faults.find((fault) => fault.call === call)?.kind, request);
  };
  return { send, close: () => inner.close(), death };
};
