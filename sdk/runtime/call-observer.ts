import type { Clock } from "../../provider/kernel/clock.js";
import { packageName, packageVersion } from "../../provider/kernel/package.js";
import {
  type AttemptOutcome,
  beginCallSpan,
  type TelemetryApi,
} from "../../provider/service/call-span.js";
import type { Endpoint, Method } from "../../provider/service/operations.js";
import type { Transport } from "../../provider/service/transport.js";
import type { ContentTransfer } from "./content-transfer.js";

/**
 * One attempt at a call, reported just before it is sent. Contains no bodies, headers, IDs, or
 * secrets.
 */
export interface RequestEvent {
  /** HTTP method. */
  readonly method: Method;
  /**
   * Path template relative to the base URL, such as `/conversations/{id}`; `TOKEN` for the token
   * URL, `{contentUrl}` for a signed URL.
   */
  readonly template: string;
  /** Number of this attempt within the call, starting from 1. */
  readonly attempt: number;
}

/** Begins a span; the function it gives back ends it. */
type BeginSpan = (attempt: RequestEvent, host: string) => (outcome: AttemptOutcome) => void;

/** A name that the compiler does not look up: the package need not be there. */
const telemetryPackage: string = "@opentelemetry/api";

const isApi = (value: unknown): value is TelemetryApi =>
  typeof value === "object" && value !== null && "trace" in value && "context" in value;

/** Spans as children of whatever is active now. */
const beginning = ({ context, trace }: TelemetryApi): BeginSpan => {
  const parent = context.active();
  const tracer = trace.getTracer(packageName, packageVersion());
  return (attempt, host) => beginCallSpan(tracer, { ...attempt, host, parent });
};

/**
 * Returns a function that sets up tracing for one call if `@opentelemetry/api` is installed. The
 * package is loaded on first use.
 */
export const telemetry = (
  load: () => Promise<unknown> = () => import(telemetryPackage),
): (() => Promise<BeginSpan | undefined>) => {
  let api: Promise<unknown> | undefined;
  return async () => {
    api ??= load();
    try {
      const found = await api;
      return isApi(found) ? beginning(found) : undefined;
    } catch {
      // Missing, or not in the shape of version 1: calls go on without traces.
      return undefined;
    }
  };
};

/** The outcome of an attempt. Contains no bodies, headers, IDs, or secrets. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status of the response. Absent if there was no response. */
  readonly status?: number;
  /**
   * Milliseconds from sending the request to receiving the response (for a download, its headers).
   */
  readonly ms: number;
}

/**
 * Functions that are called for every attempt. If one fails, the process emits a warning, and the
 * call continues.
 */
export interface CallHooks {
  /** Called before each attempt, including retries. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Called after each attempt, with or without a response. */
  readonly onResponse?: (event: ResponseEvent) => void;
}

/** Wraps a hook so that its failure becomes a process warning and does not affect the call. */
export const harmlessHook =
  <E>(name: string, hook: ((event: E) => unknown) | undefined): ((event: E) => void) =>
  (event) => {
    // An async function fails later and must not end the process.
    const called = async (): Promise<unknown> => hook?.(event);
    called().catch((error) => {
      const said = error instanceof Error ? error.message : typeof error;
      process.emitWarning(`${name} failed: ${said}`, "ConversationHookWarning");
    });
  };

/** Sends one attempt of a call, and reports it to hooks and OpenTelemetry. */
type ObservedSend = <T extends { readonly status: number }>(
  url: URL,
  send: () => Promise<T>,
) => Promise<T>;

/** Starts observing a call to an endpoint. Each use of the returned function is one attempt. */
export type CallObserver = (endpoint: Endpoint) => Promise<ObservedSend>;

/** Tracing must not fail a call. */
const quietly = <T>(trace: () => T): T | undefined => {
  try {
    return trace();
  } catch {
    return undefined;
  }
};

/** Returns an observer that reports calls to the caller's hooks and to OpenTelemetry. */
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
      const end = (outcome: AttemptOutcome): void => {
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

/** Returns a transport that reports each request as an attempt at one call. */
export const observedTransport = (transport: Transport, observed: ObservedSend): Transport => ({
  send: (request) => observed(new URL(request.url), () => transport.send(request)),
  close: () => transport.close(),
});

/**
 * Returns a transport that reports requests to one endpoint. A successful attempt ends a call, and
 * the next attempt starts another one.
 */
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

/** Wraps a content transfer so that each upload or download is observed as one call. */
export const observedTransfer = (
  transfer: ContentTransfer,
  observe: CallObserver,
): ContentTransfer => ({
  upload: async (upload) => {
    const observed = await observe({ method: "POST", template: "{contentUrl}" });
    return observed(upload.url, () => transfer.upload(upload));
  },
  download: async (download) => {
    const observed = await observe({ method: "GET", template: "{contentUrl}" });
    return observed(download.url, () => transfer.download(download));
  },
  close: () => transfer.close(),
});
