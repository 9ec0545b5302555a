import type { AccessToken } from "../token/access-token.js";
import type { Exchange } from "./answers.js";
import { type Call, givenUp } from "./call.js";
import { type ClientParts, sentWith } from "./send.js";
import type { HttpResponse } from "./transport.js";

/** Sends a call, in its turn, with a token; one that is refused (401) is followed once by a new one. */
export const authorized = async (parts: ClientParts, call: Call): Promise<Exchange> => {
  const first = await paced(parts, call, () => parts.tokens.current());
  const { token } = first.call;
  if (first.response.status !== 401 || !token) return first;
  const again = await paced(parts, call, () => parts.tokens.after(token));
  return { ...again, call: { ...again.call, secrets: [...again.call.secrets, token.value] } };
};

/** @param choose A token, after the wait, which may be longer than the life of a token. */
const paced = async (
  parts: ClientParts,
  call: Call,
  choose: () => Promise<AccessToken>,
): Promise<Exchange> => {
  let signed = call;
  const attempt = async (): Promise<HttpResponse> => {
    const token = await unlessGivenUp(choose(), call);
    signed = { ...call, token, secrets: [...call.secrets, token.value] };
    return sentWith(parts, signed, token);
  };
  const response = await parts.pace(call.operation, attempt, call.signal);
  return { call: signed, response };
};

/** A shared promise goes on without the caller who gives up waiting for it. */
const unlessGivenUp = <T>(promise: Promise<T>, call: Call): Promise<T> =>
  new Promise((resolve, reject) => {
    const { signal } = call;
    const giveUp = (): void => reject(givenUp(call));
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
