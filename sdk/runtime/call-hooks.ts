import type { Clock } from "../../provider/kernel/clock.js";
import { tokenEndpoint } from "../../provider/service/token.js";
import type { Attempt, CallEvent, Endpoint, Method } from "../../provider/service/transport.js";

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

/** Returns a listener that reports each attempt of a call to the caller's hooks. */
export const reportAttempts = (hooks: CallHooks, clock: Clock): ((event: CallEvent) => void) => {
  const onRequest = harmlessHook("onRequest", hooks.onRequest);
  const onResponse = harmlessHook("onResponse", hooks.onResponse);
  const open = new WeakMap<Endpoint, { readonly event: RequestEvent; readonly from: number }>();

  const begin = ({ call, attempt }: Attempt): void => {
    const { method, template } = call;
    const name = template === tokenEndpoint.template ? "TOKEN" : template;
    const event = { method, template: name, attempt };
    open.set(call, { event, from: clock.now() });
    onRequest(event);
  };

  const end = (call: Endpoint, outcome: Pick<ResponseEvent, "status">): void => {
    const attempt = open.get(call);
    if (attempt) onResponse({ ...attempt.event, ...outcome, ms: clock.now() - attempt.from });
  };

  return (event) => {
    if (event.type === "sending") begin(event);
    else if (event.type === "ended")
      end(event.call, event.status === undefined ? {} : { status: event.status });
  };
};
