/** @import { AccountGraph } from "../account-graph.js" */
/** @import { PageChanges } from "../changes.js" */
/** @import { ConversationAddress, ConversationSummary } from "../shown-conversations.js" */
/** @import { EntriesSince } from "../../http/call-log.js" */

/** As many entries of a list as the emulator keeps itself. */
const mostEntries = 10_000;
/** As many as the emulator tells at once: a page that stays open for days must not grow for days. */
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
