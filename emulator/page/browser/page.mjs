import { setText } from "./elements.mjs";

/** @import { ConversationAddress, ConversationSummary, FormTables, GraphObject, PageChanges } from "../page-routes.js" */
/** @import { EntriesSince } from "../../http/call-log.js" */

const control = "/control";

/** The error for a failed call, in the emulator's words. */
export class CallError extends Error {
  /** @param {string} message @param {number} status 0 if there was no response */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** @param {unknown} value @returns {value is Readonly<Record<string, unknown>>} */
export const isRecord = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An error's message. @param {unknown} error */
export const causeText = (error) => (error instanceof Error ? error.message : String(error));

/** The reason for a refusal: `error` from the control interface, or `code`, `developerMessage`, and `details` from the service. @param {unknown} body @param {number} status */
export const refusalText = (body, status) => {
  if (!isRecord(body)) return `The emulator returned status ${status}.`;
  if (typeof body.error === "string") return body.error;
  const details = Array.isArray(body.details) ? body.details.filter(isRecord) : [];
  const rest = details
    .map(({ key, value }) => `${key}: ${value}`)
    .filter((text) => !String(body.developerMessage).startsWith(text));
  const code = body.code === undefined ? "" : ` (${body.code})`;
  return [`${status}${code}: ${body.developerMessage ?? "refused"}`, ...rest].join("\n");
};

/** A fault can make the service hang; a person who waits for a message wants to know. */
const answerWithinMs = 30_000;

let secret = "";

/** Sets the control secret, which is kept for as long as the page is open. @param {string} given */
export const useControlSecret = (given) => {
  secret = given;
};

/** Parses JSON; undefined if the text is not JSON. @param {string} text @returns {unknown} */
export const parsedJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {string} [bearer]
 * @returns {Promise<unknown>}
 */
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

/** Sends a message through the service's own call, as any application does. @param {unknown} message */
export const sendMessage = async (message) => {
  const issued = await call("POST", `${control}/page/token`);
  const token = isRecord(issued) ? String(issued.token) : "";
  const body = { messages: { message: [message] } };
  return call("POST", `${servicePaths.base}/conversations/messages`, body, token);
};

/** Paths of the service, relative to the page's origin. */
export const servicePaths = { base: "/conversation/v3", token: "/oauth/token" };

/** The credentials of the emulator's own client, and all scopes that it may request. @typedef {{ readonly clientId: string, readonly clientSecret: string, readonly scope: string }} OwnClient */

export const readOwnClient = async () =>
  /** @type {OwnClient} */ (await call("GET", `${control}/page/client`));

/** Fetches a token the way a program does. */
export const fetchToken = async () => {
  const { clientId, clientSecret, scope } = await readOwnClient();
  const grant = { grant_type: "client_credentials", scope };
  const body = new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret });
  const response = await fetch(servicePaths.token, { method: "POST", body });
  const answer = parsedJson(await response.text());
  if (isRecord(answer) && response.ok) return String(answer.access_token);
  throw new CallError(`The token URL returned ${response.status}`, response.status);
};

/** As many as the emulator sends at once: a page that stays open for days must not grow for days. */
const mostConversations = 2_000;
const mostMessages = 500;

/**
 * The known part of a list that grows at its end and is trimmed at its beginning.
 *
 * @template T
 */
export class GrowingList {
  /** @type {readonly T[]} Another list after every change. */
  entries = [];
  /** Position of the first entry. Positions increase over the emulator's lifetime. */
  first = 0;
  /** A number that increases when the known entries have been replaced and the positions refer to other entries. */
  generation = 0;

  /** @param {EntriesSince<T>} more */
  take({ first, next, entries }) {
    const isNext = next - entries.length === this.first + this.entries.length;
    if (isNext && entries.length === 0 && first <= this.first) return;
    if (!isNext) this.generation += 1;
    const all = isNext ? [...this.entries, ...entries] : entries;
    this.first = Math.max(first, next - all.length);
    this.entries = all.slice(this.first - next + all.length);
  }
}

/** The known part of the conversation shown. */
export class ShownConversation {
  isCompleted = false;
  /** @type {NonNullable<PageChanges["conversation"]>["messages"]} The last ones. */
  messages = [];
  /** The downloads of the messages' assets, keyed by asset ID. @type {Map<string, string>} */
  downloads = new Map();
  /** The number of messages before the known ones. */
  before = 0;
  /** Whether the emulator has reported on the conversation yet, and whether the conversation exists. */
  isKnown = false;
  isThere = false;

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** @param {PageChanges["conversation"]} growth */
  take(growth) {
    if (growth && growth.id !== this.id) return;
    this.isKnown = true;
    this.isThere = growth !== undefined;
    if (!growth) return;
    this.isCompleted = growth.isCompleted;
    if (growth.messages.length === 0) return;
    // If too much came at once, the part in between was left out.
    const isNext = growth.from <= this.next && growth.from >= this.before;
    const known = isNext ? this.messages.slice(0, growth.from - this.before) : [];
    this.messages = [...known, ...growth.messages].slice(-mostMessages);
    for (const [id, path] of Object.entries(growth.downloads)) this.downloads.set(id, path);
    this.before = growth.from + growth.messages.length - this.messages.length;
  }

  /** Position of the next message, from 0. */
  get next() {
    return this.before + this.messages.length;
  }
}

/** What the page shows of its views: the conversation, the object as `channels/<id>`, and the place of the call. @typedef {{ readonly conversation: string, readonly object: string, readonly call: string }} Shown */

/** Takes the conversations that changed: the last changed one comes last. @param {Map<string, ConversationSummary>} known @param {{ readonly isWhole: boolean, readonly entries: readonly ConversationSummary[] }} changed */
const takeConversations = (known, { isWhole, entries }) => {
  const taken = isWhole ? new Map() : known;
  for (const each of entries) {
    taken.delete(each.id);
    taken.set(each.id, each);
  }
  for (const id of taken.keys()) {
    if (taken.size <= mostConversations) break;
    taken.delete(id);
  }
  return taken;
};

/** The lists of what happened, each a view. @typedef {"calls" | "deliveries"} LogName */

/** Everything that the page knows about the emulator, updated with each response. */
export class PageState {
  cursor = "";
  /** @type {PageChanges | undefined} The last answer; its lists are incomplete. */
  latest = undefined;
  /** @type {GrowingList<PageChanges["calls"]["entries"][number]>} */
  calls = new GrowingList();
  /** @type {GrowingList<PageChanges["deliveries"]["entries"][number]>} */
  deliveries = new GrowingList();
  /** @type {Map<string, ConversationSummary>} The last changed one comes last. */
  conversations = new Map();
  /** The text that conversations are searched for; empty if there is none. */
  search = "";
  /** @type {Map<string, ConversationSummary> | undefined} Those with the text, once the emulator has looked. */
  found = undefined;
  /** Whether `found` is of another text, so that what changed since then is not enough. */
  #isSoughtAnew = false;
  /** @type {{ readonly objects: readonly GraphObject[], readonly total: number }} */
  graph = { objects: [], total: 0 };
  /** @type {readonly ConversationAddress[]} */
  addresses = [];
  shown = new ShownConversation("");
  /** The key of the object shown; empty if there is none. */
  object = "";
  /** @type {PageChanges["object"]} Its members, once they are known. */
  members = undefined;

  /** Position of the call shown; empty if there is none. */
  call = "";
  /** @type {PageChanges["call"]} What it carried, once that is known. */
  inspected = undefined;
  /** @type {ReadonlyMap<string, GraphObject>} */
  #byKey = new Map();

  /** @param {Shown} shown an empty string: none */
  show({ conversation, object, call }) {
    if (this.shown.id !== conversation) this.shown = new ShownConversation(conversation);
    if (this.object !== object) this.members = undefined;
    if (this.call !== call) this.inspected = undefined;
    this.object = object;
    this.call = call;
  }

  /** Searches the conversations. Until the emulator answers, what was found before stays. @param {string} text */
  seek(text) {
    const sought = text.trim();
    this.#isSoughtAnew ||= sought !== this.search;
    this.search = sought;
    if (this.search === "") this.found = undefined;
  }

  /** A conversation, as the list has it. @param {string} id */
  conversationOf(id) {
    return this.conversations.get(id) ?? this.found?.get(id);
  }

  /** An object in the account. @param {string} key such as `channels/<id>` */
  objectOf(key) {
    return this.#byKey.get(key);
  }

  /** What to send with the next poll. */
  look() {
    const { shown, object, inspected, search } = this;
    // Its second part is the text that was sought before.
    const cursor = this.#isSoughtAnew ? this.cursor.replace(/-[^-]*/, "-") : this.cursor;
    const call = inspected ? "" : this.call;
    return { cursor, conversation: shown.id, messages: shown.next, object, call, search };
  }

  /** @param {PageChanges} changes @param {Shown & { readonly search: string }} look what was asked for */
  take(changes, { conversation, object, call, search }) {
    const isOther = changes.cursor.split("-")[0] !== this.cursor.split("-")[0];
    if (isOther) this.inspected = undefined;
    this.cursor = changes.cursor;
    this.latest = changes;
    this.calls.take(changes.calls);
    this.deliveries.take(changes.deliveries);
    // Everything was replaced: the shown conversation may have lost messages, so it is read again.
    if (changes.conversations.isWhole && this.shown.isKnown)
      this.shown = new ShownConversation(this.shown.id);
    this.conversations = takeConversations(this.conversations, changes.conversations);
    const isWanted = changes.found?.isWhole || !this.#isSoughtAnew;
    if (changes.found && search === this.search && isWanted) {
      this.found = takeConversations(this.found ?? new Map(), changes.found);
      this.#isSoughtAnew = false;
    }
    if (changes.graph) {
      this.graph = changes.graph;
      this.#byKey = new Map(
        this.graph.objects.map((each) => [`${each.collection}/${each.id}`, each]),
      );
    }
    this.addresses = changes.addresses ?? this.addresses;
    if (conversation === this.shown.id && conversation !== "")
      this.shown.take(changes.conversation);
    if (object === this.object) this.members = changes.object;
    if (call === this.call && call !== "") this.inspected = changes.call;
  }
}

/** Between two looks while the page is in sight, in milliseconds. */
const lookEveryMs = 500;
/** After a look that failed. */
const tryAgainMs = 2_000;

/** @param {unknown} error */
const callErrorOf = (error) => {
  if (error instanceof CallError) return error;
  // As a bug of the page, it also goes to the console.
  globalThis.reportError?.(error);
  return new CallError(`The page could not be updated: ${causeText(error)}.`, 0);
};

/**
 * The state that all views share: what is known about the emulator, the page's location, and when
 * to poll next.
 */
export class Page {
  state = new PageState();
  /** @type {FormTables} What the forms offer. */
  tables = {
    kinds: [],
    deliveryFailures: {},
    senders: [],
  };
  /** The part of the URL after the view's name. @type {readonly string[]} */
  rest = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #isLooking = false;
  #isAskedAgain = false;
  #tablesKey = "";

  /**
   * @param {() => void} changed the emulator was looked at
   * @param {(error: CallError) => void} failed
   */
  constructor(changed, failed) {
    this.changed = changed;
    this.failed = failed;
    document.addEventListener("visibilitychange", () => this.lookNow());
  }

  /** @param {string} collection */
  nounOf(collection) {
    return this.tables.kinds.find((kind) => kind.collection === collection)?.noun ?? collection;
  }

  /**
   * Makes a change through a control call, and shows any error.
   *
   * @param {HTMLElement} said where
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns whether the change was made
   */
  async change(said, method, path, body) {
    const problem = await call(method, control + path, body).then(() => "", causeText);
    setText(said, problem);
    this.lookNow();
    return problem === "";
  }

  /** Polls immediately, then repeatedly while the page is visible. */
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
        // Whatever the error, the next look may succeed: a page that stops updating would help
        // nobody.
        this.failed(callErrorOf(error));
        return tryAgainMs;
      },
    );
    this.#isLooking = false;
    const wait = this.#isAskedAgain ? 0 : next;
    this.#isAskedAgain = false;
    if (!document.hidden) this.#timer = setTimeout(() => this.lookNow(), wait);
  }

  // The emulator that serves this page answers in the types named here: both have the same version,
  // so nothing is checked again.
  async #seen() {
    const look = this.state.look();
    const query = new URLSearchParams({ ...look, messages: String(look.messages) });
    const answer = await call("GET", `${control}/page/changes?${query}`);
    const changes = /** @type {PageChanges} */ (answer);
    this.state.take(changes, look);
    const key = `${changes.cursor.split("-")[0]} ${changes.platformName}`;
    // With another emulator or another vendor word, the forms offer other words.
    if (this.#tablesKey !== key)
      this.tables = /** @type {FormTables} */ (await call("GET", `${control}/page/tables`));
    this.#tablesKey = key;
    this.changed();
  }
}
