import { isRecord, parsedJson, refusalText } from "./texts.mjs";

/** @import { PageLook, PageParts, ShownObject } from "../page-routes.js" */

/** The operation that sends messages, relative to the page's origin. */
const messagesPath = "/conversation/v3/conversations/messages";

/** A fault can make the service hang; a person who waits for a message wants to know. */
const answerWithinMs = 30_000;
/** Between two looks while the page is in sight, in milliseconds. */
const lookEveryMs = 500;
/** After a look that failed. */
const tryAgainMs = 2_000;

/** The error for a failed call, in the emulator's words. */
export class CallError extends Error {
  /** @param {string} message @param {number} status 0 if there was no response */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** An error's message. @param {unknown} error */
export const causeText = (error) => (error instanceof Error ? error.message : String(error));

let secret = "";

/** Sets the control secret, which is kept for as long as the page is open. @param {string} given */
export const useControlSecret = (given) => {
  secret = given;
};

/** @param {string} method @param {string} path @param {unknown} [body] @param {string} [bearer] @returns {Promise<unknown>} */
const call = async (method, path, body, bearer = secret) => {
  const headers = new Headers();
  if (body !== undefined) headers.set("content-type", "application/json");
  if (bearer !== "") headers.set("authorization", `Bearer ${bearer}`);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(answerWithinMs);
  const unanswered = () => {
    throw new CallError("The emulator is not responding. Is it still running?", 0);
  };
  const response = await fetch(path, { method, headers, signal, ...sent }).catch(unanswered);
  const answer = parsedJson(await response.text().catch(unanswered));
  if (!response.ok) throw new CallError(refusalText(answer, response.status), response.status);
  return answer;
};

/** Reads or changes the emulator. @param {string} method @param {string} path @param {unknown} [body] */
export const control = (method, path, body) => call(method, `/control${path}`, body);

/** Sends a message through the service's own call, as any application does. @param {unknown} message */
export const sendMessage = async (message) => {
  const issued = await control("POST", "/page/token");
  const token = isRecord(issued) ? String(issued.token) : "";
  const body = { messages: { message: [message] } };
  return call("POST", messagesPath, body, token);
};

/** The key of an object, unique within its account. @param {{ readonly collection: string, readonly id: string }} object */
export const objectKey = ({ collection, id }) => `${collection}/${id}`;

/** What is shown, and so asked for; an empty text is nothing. @typedef {{ readonly conversation: string, readonly object: string, readonly call: string }} Question */

/** Everything that a look can give, with what it answers, and the objects by their keys. @typedef {PageLook & PageParts & { readonly question: Question, readonly objects: ReadonlyMap<string, ShownObject> }} Known */

/** What is known after another look. Parts that did not change stay the same. @param {Known | undefined} known @param {PageLook} seen @param {Question} question */
const takeLook = (known, seen, question) => {
  const objects = "account" in seen && {
    objects: new Map(seen.account.objects.map((each) => [objectKey(each), each])),
  };
  return /** @type {Known} */ ({ ...known, ...seen, ...objects, question });
};

/**
 * Looks at the emulator again and again while the page is in sight.
 *
 * @param {() => Question} ask
 * @param {(known: Known) => void} show
 * @param {(error: CallError) => void} fail whatever the error, the next look may succeed
 * @returns {() => void} looks at once
 */
export const watchEmulator = (ask, show, fail) => {
  /** @type {Known | undefined} */
  let known;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const look = async () => {
    const question = ask();
    const query = new URLSearchParams({ ...question, cursor: known?.cursor ?? "" });
    const answer = await control("GET", `/page/changes?${query}`);
    // The emulator that serves this page answers in its types: both have the same version.
    known = takeLook(known, /** @type {PageLook} */ (answer), question);
    show(known);
    return lookEveryMs;
  };
  /** @param {unknown} error */
  const failed = (error) => {
    // As a bug of the page, it also goes to the console.
    if (!(error instanceof CallError)) reportError(error);
    const said = `The page could not be updated: ${causeText(error)}.`;
    fail(error instanceof CallError ? error : new CallError(said, 0));
    return tryAgainMs;
  };
  const lookNow = async () => {
    if (document.hidden) return;
    const wait = await look().catch(failed);
    clearTimeout(timer);
    timer = setTimeout(lookNow, wait);
  };
  document.addEventListener("visibilitychange", lookNow);
  return () => void lookNow();
};
