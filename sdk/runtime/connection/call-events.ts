import type { Method } from "../../../provider/service/http/operations.js";

/** One attempt of a call, just before it is sent. Holds no body, header, id or secret. */
export interface RequestEvent {
  readonly method: Method;
  /**
   * Path template below the base address, such as `/conversations/{id}`; `TOKEN` for the token
   * address, `{contentUrl}` for a signed address.
   */
  readonly template: string;
  /** Number of the attempt of this call, from 1. */
  readonly attempt: number;
}

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

const warned = (name: string, error: unknown): void => {
  const said = error instanceof Error ? error.message : typeof error;
  process.emitWarning(`${name} failed: ${said}`, "ConversationHookWarning");
};

/** A hook that cannot harm whoever calls it: what it fails with becomes a warning of the process. */
export const harmlessHook =
  <E>(name: string, hook: ((event: E) => unknown) | undefined): ((event: E) => void) =>
  (event) => {
    if (!hook) return;
    // A function that is async fails later, and must not end the process then.
    const told = async (): Promise<unknown> => hook(event);
    told().catch((error) => warned(name, error));
  };
