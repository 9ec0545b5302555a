import type { Clock } from "../../../provider/kernel/clock.js";
import type { Endpoint } from "../../../provider/service/http/operations.js";
import type { Transport } from "../../../provider/service/http/transport.js";
import type { ContentTransfer } from "../assets/content-transfer.js";
import { type Outcome, type RequestEvent, telemetry } from "./telemetry.js";

/** How an attempt ended. Holds no body, header, id or secret. */
export interface ResponseEvent extends RequestEvent {
  /** Status of the answer. Left out: no answer came. */
  readonly status?: number;
  /** Milliseconds from sending to the answer; of a download, to its head. */
  readonly ms: number;
}

/** Functions that are told of every attempt. What they fail with is a warning of the process, and changes no call. */
export interface CallHooks {
  /** Told before each attempt, repeats included. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Told after each attempt, answered or not. */
  readonly onResponse?: (event: ResponseEvent) => void;
}

/** A hook that cannot harm whoever calls it: what it fails with becomes a warning of the process. */
export const harmlessHook =
  <E>(name: string, hook: ((event: E) => unknown) | undefined): ((event: E) => void) =>
  (event) => {
    // A function that is async fails later, and must not end the process then.
    const told = async (): Promise<unknown> => hook?.(event);
    told().catch((error) => {
      const said = error instanceof Error ? error.message : typeof error;
      process.emitWarning(`${name} failed: ${said}`, "ConversationHookWarning");
    });
  };

/** Sends one attempt of a call, and tells hooks and OpenTelemetry of it. */
type ObservedSend = <T extends { readonly status: number }>(
  url: URL,
  send: () => Promise<T>,
) => Promise<T>;

/** Begins to observe one call of an endpoint: each use of what it gives back is one more attempt. */
export type CallObserver = (endpoint: Endpoint) => Promise<ObservedSend>;

/** Tracing must not fail a call. */
const quietly = <T>(trace: () => T): T | undefined => {
  try {
    return trace();
  } catch {
    return undefined;
  }
};

/** Observes calls for the hooks of the caller, and for OpenTelemetry. */
export const callObserver = (
  hooks: CallHooks,
  clock: Clock,
  tracing = telemetry(),
): CallObserver => {
  const onRequest = harmlessHook("onRequest", hooks.onRequest);
  const onResponse = harmlessHook("onResponse", hooks.onResponse);
  return async ({ method, template }) => {
    const begin = await tracing();
    let attempts = 0;
    return async (url, send) => {
      attempts += 1;
      const attempt = { method, template, attempt: attempts };
      const endSpan = quietly(() => begin?.(attempt, url.hostname));
      const from = clock.now();
      const end = (outcome: Outcome): void => {
        const status = "status" in outcome ? { status: outcome.status } : {};
        onResponse({ ...attempt, ...status, ms: clock.now() - from });
        quietly(() => endSpan?.(outcome));
      };
      onRequest(attempt);
      try {
        const answer = await send();
        end({ status: answer.status });
        return answer;
      } catch (error) {
        end({ error });
        throw error;
      }
    };
  };
};

/** A transport for one call of an endpoint. */
export const observedTransport = (transport: Transport, observed: ObservedSend): Transport => ({
  send: (request) => observed(new URL(request.url), () => transport.send(request)),
  close: () => transport.close(),
});

/** A transport for one endpoint whose calls are not told from each other: an accepted one ends a call. */
export const observedEndpoint = (
  transport: Transport,
  observe: CallObserver,
  endpoint: Endpoint,
): Transport => {
  let current: Promise<ObservedSend> | undefined;
  return {
    send: async (request) => {
      current ??= observe(endpoint);
      const answer = await observedTransport(transport, await current).send(request);
      if (answer.status < 400) current = undefined;
      return answer;
    },
    close: () => transport.close(),
  };
};

const content = "{contentUrl}";

/** Transfers of contents, each of them one call. */
export const observedTransfer = (
  transfer: ContentTransfer,
  observe: CallObserver,
): ContentTransfer => ({
  upload: async (upload) => {
    const observed = await observe({ method: "POST", template: content });
    return observed(upload.url, () => transfer.upload(upload));
  },
  download: async (download) => {
    const observed = await observe({ method: "GET", template: content });
    return observed(download.url, () => transfer.download(download));
  },
  close: () => transfer.close(),
});
