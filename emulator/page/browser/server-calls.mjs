/** @import { FormTables } from "../form-tables.js" */
/** @import { PageChanges } from "../changes.js" */

const control = "/control";

/** What went wrong with a call, as the emulator says it. */
export class CallError extends Error {
  /** @param {string} message @param {number} status 0: there was no answer */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** @param {unknown} value @returns {value is Readonly<Record<string, unknown>>} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Control says `error`, the service `code`, `developerMessage` and `details`. @param {unknown} body @param {number} status */
export const refusalText = (body, status) => {
  if (!isRecord(body)) return `The emulator answered with the status ${status}.`;
  if (typeof body.error === "string") return body.error;
  const details = Array.isArray(body.details) ? body.details.filter(isRecord) : [];
  const rest = details
    .map(({ key, value }) => `${key}: ${value}`)
    .filter((text) => !String(body.developerMessage).startsWith(text));
  const code = body.code === undefined ? "" : ` (${body.code})`;
  return [`${status}${code}: ${body.developerMessage ?? "refused"}`, ...rest].join("\n");
};

/** A fault can make the service hang; whoever waits for a message wants to know then. */
const answerWithinMs = 30_000;

let secret = "";

/** Sets the secret of control, which is kept as long as the page is open. @param {string} given */
export const useControlSecret = (given) => {
  secret = given;
};

/** @param {Response} response @returns {Promise<unknown>} */
const bodyOf = async (response) => {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * @param {string} path
 * @param {string} method
 * @param {unknown} [body]
 * @param {string} [bearer]
 * @returns {Promise<unknown>}
 */
const call = async (path, method, body, bearer = secret) => {
  const headers = new Headers();
  if (body !== undefined) headers.set("content-type", "application/json");
  if (bearer !== "") headers.set("authorization", `Bearer ${bearer}`);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(answerWithinMs);
  const unanswered = () => {
    throw new CallError("The emulator does not answer. Is it still running?", 0);
  };
  const response = await fetch(path, { method, headers, signal, ...sent }).catch(unanswered);
  const answer = await bodyOf(response).catch(unanswered);
  if (!response.ok) throw new CallError(refusalText(answer, response.status), response.status);
  return answer;
};

// The emulator that serves this page answers in the shape of the very types named here: they are of
// one version, so that nothing is checked again.

/** What the forms offer. @returns {Promise<FormTables>} */
export const readTables = async () =>
  /** @type {FormTables} */ (await call(`${control}/page/tables`, "GET"));

/**
 * What changed since the last look.
 *
 * @param {{ readonly cursor: string, readonly conversation: string, readonly messages: number }} look
 * @returns {Promise<PageChanges>}
 */
export const readChanges = async ({ cursor, conversation, messages }) => {
  const query = new URLSearchParams({ cursor, conversation, messages: String(messages) });
  return /** @type {PageChanges} */ (await call(`${control}/page/changes?${query}`, "GET"));
};

/** A set-up object, its secrets hidden. @param {string} collection @param {string} id */
export const readObject = (collection, id) =>
  call(`${control}/page/objects/${collection}/${encodeURIComponent(id)}`, "GET");

/** @param {unknown} rule */
export const addFault = (rule) => call(`${control}/faults`, "POST", rule);

export const clearFaults = () => call(`${control}/faults`, "DELETE");

/** @param {string} name @param {string} value */
export const turnSwitch = (name, value) => call(`${control}/switches`, "PUT", { [name]: value });

/** @param {number} advanceMs */
export const advanceClock = (advanceMs) => call(`${control}/clock`, "POST", { advanceMs });

export const resetEmulator = () => call(`${control}/reset`, "POST");

let token = "";

const freshToken = async () => {
  const answer = await call(`${control}/page/token`, "POST");
  token = isRecord(answer) ? String(answer.token) : "";
  return token;
};

/** Sends a message by the service's own call, as any application does. @param {unknown} message */
export const sendMessage = async (message) => {
  const path = "/conversation/v3/conversations/messages";
  const body = { messages: { message: [message] } };
  try {
    return await call(path, "POST", body, token || (await freshToken()));
  } catch (error) {
    if (!(error instanceof CallError && error.status === 401)) throw error;
    return call(path, "POST", body, await freshToken());
  }
};

/** Id of the conversation that an answer to `sendMessage` speaks of. @param {unknown} answer */
export const conversationOf = (answer) => {
  const messages = isRecord(answer) && isRecord(answer.messages) ? answer.messages.message : [];
  const [first] = Array.isArray(messages) ? messages : [];
  const conversation = isRecord(first) && isRecord(first.conversation) ? first.conversation : {};
  return typeof conversation.id === "string" ? conversation.id : "";
};
