/** @import { AccountGraph, ConversationAddress, ConversationSummary, FormTables, PageChanges } from "../page-routes.js" */
/** @import { EntriesSince } from "../../http/call-log.js" */

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
const readChanges = async ({ cursor, conversation, messages }) => {
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

/** As many entries of a list as the emulator keeps itself. */
const mostEntries = 10_000;
/** As many as the emulator sends at once: a page that stays open for days must not grow for days. */
const mostConversations = 2_000;
const mostMessages = 2_000;

/**
 * A list that grows at its end and is forgotten from its beginning, as far as it is known here.
 *
 * @template T
 */
export class GrowingList {
  /** @type {T[]} */
  entries = [];
  /** Place of the first entry; places count on over the emulator's life. */
  first = 0;

  /** @param {EntriesSince<T>} more @returns whether anything changed */
  take({ first, next, entries }) {
    const from = next - entries.length;
    const known = this.first + this.entries.length;
    if (from === known && entries.length === 0 && first <= this.first) return false;
    if (from === known) this.entries = [...this.entries, ...entries];
    else [this.entries, this.first] = [[...entries], from];
    this.#forgetBefore(Math.max(first, next - mostEntries));
    return true;
  }

  /** @param {number} place */
  #forgetBefore(place) {
    const count = Math.min(place - this.first, this.entries.length);
    if (count <= 0) return;
    this.entries = this.entries.slice(count);
    this.first += count;
  }
}

/** @typedef {NonNullable<PageChanges["conversation"]>} Growth */

/** The conversation that is shown, as far as it is known. */
export class ShownConversation {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.isCompleted = false;
    /** @type {Growth["messages"]} The last ones. */
    this.messages = [];
    /** How many there are before these. */
    this.before = 0;
    /** Whether the emulator has said anything of it yet, and whether there is such a conversation. */
    this.isKnown = false;
    this.isThere = false;
  }

  /** @param {Growth | undefined} growth */
  take(growth) {
    if (growth && growth.id !== this.id) return;
    this.isKnown = true;
    this.isThere = growth !== undefined;
    if (!growth) return;
    this.isCompleted = growth.isCompleted;
    if (growth.messages.length === 0) return;
    // Where too much came at once, what lies between was left out.
    const isNext = growth.from <= this.next && growth.from >= this.before;
    const known = isNext ? this.messages.slice(0, growth.from - this.before) : [];
    this.messages = [...known, ...growth.messages].slice(-mostMessages);
    this.before = growth.from + growth.messages.length - this.messages.length;
  }

  /** Place of the next message, from 0. */
  get next() {
    return this.before + this.messages.length;
  }
}

/** All that the page knows of the emulator, brought up to date with each answer. */
export class PageState {
  cursor = "";
  /** @type {PageChanges | undefined} What was said last; its lists are not whole. */
  latest = undefined;
  /** @type {GrowingList<PageChanges["calls"]["entries"][number]>} */
  calls = new GrowingList();
  /** @type {GrowingList<PageChanges["deliveries"]["entries"][number]>} */
  deliveries = new GrowingList();
  /** @type {Map<string, ConversationSummary>} What changed last comes last. */
  conversations = new Map();
  /** @type {AccountGraph} */
  graph = { objects: [], total: 0 };
  /** @type {readonly ConversationAddress[]} */
  addresses = [];
  shown = new ShownConversation("");

  /** @param {string} id of the conversation to show; empty: none */
  show(id) {
    if (this.shown.id !== id) this.shown = new ShownConversation(id);
  }

  /** What to say with the next look. */
  look() {
    return {
      cursor: this.cursor,
      conversation: this.shown.id,
      messages: this.shown.next,
    };
  }

  /** @param {PageChanges} changes @param {string} conversation the one that was asked for */
  take(changes, conversation) {
    this.cursor = changes.cursor;
    this.latest = changes;
    this.calls.take(changes.calls);
    this.deliveries.take(changes.deliveries);
    if (changes.conversations.isWhole) {
      this.conversations = new Map();
      // Replaced as a whole: what is shown may have lost messages, and is read again.
      if (this.shown.isKnown) this.shown = new ShownConversation(this.shown.id);
    }
    for (const each of changes.conversations.entries) {
      this.conversations.delete(each.id);
      this.conversations.set(each.id, each);
    }
    for (const id of this.conversations.keys()) {
      if (this.conversations.size <= mostConversations) break;
      this.conversations.delete(id);
    }
    this.graph = changes.graph ?? this.graph;
    this.addresses = changes.addresses ?? this.addresses;
    if (conversation === this.shown.id && conversation !== "")
      this.shown.take(changes.conversation);
  }
}

/** Between two looks while the page is in sight, in milliseconds. */
const lookEveryMs = 500;
/** After a look that failed. */
const tryAgainMs = 2_000;

/** What the forms offer depends on it. @param {PageChanges} changes */
const tablesKey = ({ cursor, switches }) => `${cursor.split("-")[0]} ${switches.platformName}`;

/** @param {unknown} error */
const callErrorOf = (error) => {
  if (error instanceof CallError) return error;
  // As a mistake of the page it goes to the console, too.
  globalThis.reportError?.(error);
  const said = error instanceof Error ? error.message : String(error);
  return new CallError(`The page cannot show this: ${said}.`, 0);
};

/** What all views share: what is known of the emulator, where the page is, and when to look again. */
export class Page {
  state = new PageState();
  /** What stands in the address behind the name of the view. @type {readonly string[]} */
  rest = [];
  #changed = () => {};
  #failed = (/** @type {CallError} */ _error) => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #isLooking = false;
  #isAskedAgain = false;
  #tablesKey = "";

  /** @param {FormTables} tables */
  constructor(tables) {
    this.tables = tables;
  }

  /** @param {string} hash */
  go(hash) {
    location.hash = hash;
  }

  /** What went wrong with a change that was made from here; empty: nothing. @param {Promise<unknown>} change */
  problemOf(change) {
    return change.then(
      () => "",
      (error) => (error instanceof Error ? error.message : String(error)),
    );
  }

  /** @param {string} collection */
  nounOf(collection) {
    return this.tables.kinds.find((kind) => kind.collection === collection)?.noun ?? collection;
  }

  /**
   * Looks again and again as long as the page is in sight.
   *
   * @param {() => void} changed
   * @param {(error: CallError) => void} failed
   */
  watch(changed, failed) {
    this.#changed = changed;
    this.#failed = failed;
    document.addEventListener("visibilitychange", () => this.lookNow());
    this.lookNow();
  }

  /** Looks at once: something was just changed from here. */
  lookNow() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    if (this.#isLooking) this.#isAskedAgain = true;
    else void this.#look();
  }

  async #look() {
    this.#isLooking = true;
    const next = await this.#seen().then(
      () => lookEveryMs,
      (error) => {
        // Whatever it is, the next look may be better: a page that stands still says nothing.
        this.#failed(callErrorOf(error));
        return tryAgainMs;
      },
    );
    this.#isLooking = false;
    const wait = this.#isAskedAgain ? 0 : next;
    this.#isAskedAgain = false;
    this.#timer = setTimeout(() => this.lookNow(), wait);
  }

  async #seen() {
    const look = this.state.look();
    const changes = await readChanges(look);
    this.state.take(changes, look.conversation);
    await this.#readTables(tablesKey(changes));
    this.#changed();
  }

  /** Another emulator, or another word of the vendor's: the forms offer other words. @param {string} key */
  async #readTables(key) {
    if (this.#tablesKey !== "" && this.#tablesKey !== key) this.tables = await readTables();
    this.#tablesKey = key;
  }
}
