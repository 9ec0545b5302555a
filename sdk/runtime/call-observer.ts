import type { Clock } from "../../provider/kernel/clock.js";
import { packageName, packageVersion } from "../../provider/kernel/package.js";
import {
  type AttemptOutcome,
  beginCallSpan,
  type TelemetryApi,
} from "../../provider/service/call-spans.js";
import type { AttemptNumber, CallEvent, ObservedCall } from "../../provider/service/pace.js";
import { tokenEndpoint } from "../../provider/service/token.js";
import type { Method } from "../../provider/service/transport.js";

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

/** A name that the compiler does not look up: the package need not be there. */
const telemetryPackage: string = "@opentelemetry/api";

const isTelemetry = (value: unknown): value is TelemetryApi =>
  typeof value === "object" && value !== null && "trace" in value && "context" in value;

/** Tracing must not fail a call. */
const traceQuietly = <T>(trace: () => T): T | undefined => {
  try {
    return trace();
  } catch {
    return undefined;
  }
};

/** An attempt in progress. */
interface OpenAttempt {
  readonly event: RequestEvent;
  readonly from: number;
  readonly endSpan: ((outcome: AttemptOutcome) => void) | undefined;
}

/**
 * Returns a listener that reports each attempt to the caller's hooks and, if `@opentelemetry/api`
 * is installed, as a span below whatever is active then. `ready` loads that package.
 */
export const callObserver = (
  hooks: CallHooks,
  clock: Clock,
  load: () => Promise<unknown> = () => import(telemetryPackage),
) => {
  const onRequest = harmlessHook("onRequest", hooks.onRequest);
  const onResponse = harmlessHook("onResponse", hooks.onResponse);
  const open = new WeakMap<ObservedCall, OpenAttempt>();
  let api: TelemetryApi | undefined;
  let loading: Promise<void> | undefined;

  const beginSpan = (event: RequestEvent, host: string) => {
    if (!api) return undefined;
    const parent = api.context.active();
    const tracer = api.trace.getTracer(packageName, packageVersion());
    return beginCallSpan(tracer, { ...event, host, parent });
  };

  const begin = ({ call, attempt }: AttemptNumber, host: string): void => {
    const { method, template } = call;
    const name = template === tokenEndpoint.template ? "TOKEN" : template;
    const event = { method, template: name, attempt };
    const endSpan = traceQuietly(() => beginSpan(event, host));
    open.set(call, { event, from: clock.now(), endSpan });
    onRequest(event);
  };

  const end = (call: ObservedCall, outcome: AttemptOutcome): void => {
    const attempt = open.get(call);
    if (!attempt) return;
    const { event, from, endSpan } = attempt;
    const status = "status" in outcome ? { status: outcome.status } : {};
    onResponse({ ...event, ...status, ms: clock.now() - from });
    traceQuietly(() => endSpan?.(outcome));
  };

  return {
    ready: (): Promise<void> => {
      loading ??= load().then(
        // Otherwise missing, or not in the shape of version 1: calls go on without traces.
        (found) =>
          void traceQuietly(() => {
            if (isTelemetry(found)) api = found;
          }),
        () => {},
      );
      return loading;
    },
    onEvent: (event: CallEvent): void => {
      if (event.type === "sending") begin(event, event.host);
      else if (event.type === "answered") end(event.call, { status: event.response.status });
      else if (event.type === "failed") end(event.call, { error: event.error });
    },
  };
};
