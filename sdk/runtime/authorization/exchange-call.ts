import { ConversationError } from "../../../provider/kernel/errors.js";

// Runs in browsers too: nothing of Node may be imported here, not even by what is imported.

/** Enough of `fetch` for one call. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: "POST";
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly redirect: "error";
    readonly signal?: AbortSignal;
  },
) => Promise<{ readonly status: number; text(): Promise<string> }>;

/** What a token address answered. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** One form on its way to a token address. */
export interface FormCall {
  /** What is being done, for messages. */
  readonly doing: string;
  readonly url: URL;
  readonly form: string;
  readonly fetch: FetchLike;
  readonly signal?: AbortSignal | undefined;
  /** Longest time until the answer is complete, in milliseconds. */
  readonly timeoutMs: number;
}

/** An error after which it is not known what the token address did. */
export const callFailed = (
  { doing }: Pick<FormCall, "doing">,
  code: "UNREACHABLE" | "UNAVAILABLE" | "REJECTED" | "BAD_RESPONSE" | "CANCELLED" | "TIMED_OUT",
  text: string,
  details: { readonly status?: number; readonly serviceCode?: string } = {},
): ConversationError =>
  // A code is good once: whether it was used up is not known unless the answer says so.
  new ConversationError(code, `Could not ${doing}: ${text}`, details, "unknown");

/** Rejects when the time is over or the caller gives up, whatever `fetch` makes of its signal. */
const ended = (call: FormCall, over: AbortController): readonly [Promise<never>, () => void] => {
  let stop: () => void = () => {};
  const promise = new Promise<never>((_, reject) => {
    const end = (error: ConversationError): void => {
      reject(error);
      over.abort(error);
    };
    const { signal, timeoutMs, url } = call;
    const giveUp = (): void => end(callFailed(call, "CANCELLED", "it was given up."));
    const late = (): void =>
      end(
        callFailed(
          call,
          "TIMED_OUT",
          `${url.host} gave no complete answer within ${timeoutMs} ms. Check the address and the network.`,
        ),
      );
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener("abort", giveUp, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    };
    if (signal?.aborted) giveUp();
  });
  return [promise, stop];
};

const exchanged = async ({ url, form, fetch }: FormCall, signal: AbortSignal): Promise<Reply> => {
  const response = await fetch(url.href, {
    method: "POST",
    headers: {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: form,
    redirect: "error",
    signal,
  });
  return { status: response.status, text: await response.text() };
};

/**
 * Posts a form to a token address.
 *
 * @throws ConversationError `UNREACHABLE`, `TIMED_OUT` or `CANCELLED`
 */
export const postForm = async (call: FormCall): Promise<Reply> => {
  const over = new AbortController();
  const [end, stop] = ended(call, over);
  try {
    return await Promise.race([end, exchanged(call, over.signal)]);
  } catch (error) {
    if (error instanceof ConversationError) throw error;
    throw callFailed(
      call,
      "UNREACHABLE",
      `no answer from ${call.url.host}, or a redirect. Check the address, the network and, in a browser, that the token address allows this origin.`,
    );
  } finally {
    stop();
  }
};
