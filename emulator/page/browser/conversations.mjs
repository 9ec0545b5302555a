import { deliveryOutcome, isDelivered } from "./calls.mjs";
import { Composer, linkToConversation, StartForm, shownMessage } from "./composer.mjs";
import {
  beginningOf,
  choice,
  clockTime,
  counted,
  countText,
  element,
  fill,
  foreignText,
  keepRows,
  labelled,
  setAttributes,
  setText,
  shareText,
  shortText,
  virtualList,
} from "./elements.mjs";

/** @import { DeliveryEntry } from "../../runtime/deliveries.js" */
/** @import { Json, ShownMessage } from "./composer.mjs" */
/** @import { Page } from "./page.mjs" */
/** @import { ConversationSummary } from "../page-routes.js" */

/** So many of the last messages are shown at once; earlier ones when they are asked for. */
const atOnce = 200;

/** @typedef {{ readonly message: ShownMessage, readonly delivery: string, readonly tone: string }} Line */

/** @param {number} count */
const leftText = (count) => `${counted(count, "earlier message")} not shown here.`;

/** What became of the deliveries of each message. @param {readonly DeliveryEntry[]} entries */
const lastDeliveries = (entries) => new Map(entries.map((entry) => [entry.messageId, entry]));

/** @param {DeliveryEntry | undefined} entry */
const deliveryText = (entry) => {
  if (!entry) return "";
  const attempts = entry.attempt > 1 ? `, try ${entry.attempt}` : "";
  return isDelivered(entry)
    ? `delivered${attempts}`
    : `not delivered: ${deliveryOutcome(entry).replace(/^undeliverable: /, "")}${attempts}`;
};

/** So much of a text is shown at once; the rest when it is asked for. */
const mostText = 4_000;

/** A text in its own direction of writing. @param {"p" | "pre"} tag @param {string} text */
const wholeText = (tag, text) => {
  const attributes = { class: tag === "p" ? "text" : undefined, dir: "auto" };
  const beginning = beginningOf(text, mostText);
  const rest = text.slice(beginning.length);
  const shown = element(tag, attributes, rest === "" ? beginning : `${beginning}…`);
  if (rest === "") return [shown];
  const more = element("summary", {}, `${countText(rest.length)} more characters`);
  return [shown, element("details", {}, more, element(tag, attributes, rest))];
};

/** @param {Line} line */
const eventRow = ({ message }) =>
  element(
    "li",
    { class: "event" },
    element(
      "span",
      {},
      foreignText(message.name || message.sender),
      " · ",
      foreignText(message.type),
      message.text !== "" && " · ",
      message.text !== "" && foreignText(message.text),
    ),
    message.json !== "" && element("code", {}, shortText(message.json.replace(/\s+/g, " "))),
    element("time", { datetime: message.time }, clockTime(message.time)),
  );

/** @param {Line} line */
const speechRow = ({ message, delivery, tone }) =>
  element(
    "li",
    { class: "speech", "data-side": message.side },
    element(
      "p",
      { class: "by" },
      element("strong", {}, foreignText(message.name || message.sender)),
      message.name !== "" && " ",
      message.name !== "" && foreignText(message.sender),
      message.type !== "text" && " · ",
      message.type !== "text" && foreignText(message.type),
    ),
    ...(message.text === "" ? [] : wholeText("p", message.text)),
    message.attachments.length > 0 &&
      element(
        "ul",
        { class: "files", "aria-label": "Attachments" },
        ...message.attachments.map((name) => element("li", {}, foreignText(name))),
      ),
    ...(message.json === "" ? [] : wholeText("pre", message.json)),
    element(
      "p",
      { class: "quiet" },
      element("time", { datetime: message.time }, clockTime(message.time)),
      message.recipients !== "" && " to ",
      message.recipients !== "" && foreignText(message.recipients),
      delivery !== "" && element("span", { "data-tone": tone }, " · ", foreignText(delivery)),
    ),
  );

/** @param {Line} line */
const rowOf = (line) => (line.message.isEvent ? eventRow(line) : speechRow(line));

/** The messages of a conversation, as a chat that grows. @param {Page} page */
const transcript = (page) => {
  const list = element("ol", { class: "messages" });
  const log = element(
    "div",
    { class: "log", role: "log", "aria-label": "Messages", tabindex: 0 },
    list,
  );
  const earlier = element("button", { type: "button", class: "earlier" });
  const left = element("p", { class: "empty" });
  const view = element("div", { class: "transcript" }, earlier, left, log);
  /** @type {Map<string, { readonly item: Line, readonly row: HTMLElement }>} */
  const rows = new Map();
  /** @type {WeakMap<Json, Line>} */
  const lines = new WeakMap();
  let conversation = "";
  let most = atOnce;
  /** What was shown last: if it is the same, nothing is made anew. @type {readonly unknown[]} */
  let before = [];

  /** The same line as before if nothing of it changed, so that its element stays. @param {Json} json @param {ReadonlyMap<string, DeliveryEntry>} last */
  const lineOf = (json, last) => {
    const known = lines.get(json);
    const message = known?.message ?? shownMessage(json);
    const entry = last.get(message.messageId);
    const delivery = deliveryText(entry);
    if (known && known.delivery === delivery) return known;
    const line = { message, delivery, tone: entry && isDelivered(entry) ? "good" : "bad" };
    lines.set(json, line);
    return line;
  };

  const update = () => {
    const { shown, deliveries } = page.state;
    const isOther = shown.id !== conversation;
    const now = [shown.messages, deliveries.entries, most];
    if (!isOther && now.every((each, place) => each === before[place])) return;
    before = now;
    if (isOther) {
      [conversation, most] = [shown.id, atOnce];
      rows.clear();
      fill(list);
    }
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    const hidden = Math.max(0, shown.messages.length - most);
    earlier.hidden = hidden === 0;
    setText(earlier, `Show ${counted(Math.min(hidden, atOnce), "earlier message")}`);
    setText(left, hidden === 0 && shown.before > 0 ? leftText(shown.before) : "");
    const last = lastDeliveries(deliveries.entries);
    const wanted = shown.messages.slice(hidden).map((json, place) => {
      // By its place: two messages may have one id.
      const key = String(shown.before + hidden + place);
      return /** @type {const} */ ([key, lineOf(json, last)]);
    });
    keepRows(list, rows, wanted, rowOf);
    if (isAtEnd || isOther) log.scrollTop = log.scrollHeight;
  };
  earlier.addEventListener("click", () => {
    const before = log.scrollHeight - log.scrollTop;
    most += atOnce;
    update();
    log.scrollTop = log.scrollHeight - before;
  });
  return { element: view, update };
};

/** @type {Readonly<Record<ConversationSummary["phase"], string>>} */
const phases = { bot: "with a bot", agent: "with an agent", ended: "ended" };

/** Who a conversation is with. @param {ConversationSummary} conversation */
const customerOf = ({ customer }) => customer || "Nameless customer";

/** @param {ConversationSummary} conversation @param {boolean} isCompleted */
const aboutParts = ({ id, phase, address, channelType, messages }, isCompleted) => {
  const isIdle = isCompleted && phase !== "ended";
  const state = isIdle ? "completed: idle for too long" : phases[phase];
  return [
    `${state} · `,
    foreignText(address),
    " on ",
    foreignText(channelType),
    ` · ${counted(messages, "message")} · `,
    foreignText(id),
  ];
};

/** The conversation that is shown, with its composer. */
class ConversationPanel {
  #title = element("h2");
  #about = element("p", { class: "quiet" });
  #over = element("p", { class: "over" });

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.messages = transcript(page);
    this.composer = new Composer(page, {
      label: "Send a message",
      send: "Send",
      customer: () => this.#summary?.customer ?? "",
      conversation: () => ({ id: page.state.shown.id }),
    });
    const back = element(
      "a",
      { href: "#conversations", class: "button back" },
      "All conversations",
    );
    const header = element("header", {}, back, this.#title, this.#about);
    const parts = [header, this.messages.element, this.#over, this.composer.element];
    this.element = element("section", { class: "conversation" }, ...parts);
  }

  get #summary() {
    const { conversations, shown } = this.page.state;
    return conversations.get(shown.id);
  }

  update() {
    const { shown } = this.page.state;
    const known = this.#summary;
    const isMissing = shown.isKnown && !shown.isThere;
    const title = isMissing ? "No such conversation" : "Conversation";
    const shownTitle = foreignText(known ? customerOf(known) : title);
    if (this.#title.textContent !== shownTitle.textContent) fill(this.#title, shownTitle);
    const about = known ? aboutParts(known, shown.isCompleted) : [];
    const said = about.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
    if (this.#about.textContent !== said) fill(this.#about, ...about);
    const over = "The conversation is completed: nothing more can be sent.";
    setText(this.#over, shown.isCompleted ? over : "");
    this.composer.element.hidden = shown.isCompleted || isMissing;
    this.composer.update(shown.id);
    this.messages.update();
  }
}

/**
 * Whether a conversation passes the filters.
 *
 * @param {ConversationSummary} conversation
 * @param {{ readonly text: string, readonly phase: string }} filter
 */
export const isConversationWanted = ({ id, phase, customer, address, channelType }, filter) => {
  const isInPhase = filter.phase === "running" ? phase !== "ended" : phase === filter.phase;
  const words = `${customer} ${address} ${channelType} ${id}`.toLowerCase();
  return (filter.phase === "" || isInPhase) && words.includes(filter.text.toLowerCase().trim());
};

/** @param {ConversationSummary} conversation */
const listItem = (conversation) => {
  const { id, phase, address, messages, modified } = conversation;
  return element(
    "div",
    { role: "listitem", class: "item" },
    element(
      "a",
      { href: linkToConversation(id), "data-id": id },
      element("span", { class: "name" }, foreignText(customerOf(conversation))),
      element("time", { datetime: modified }, clockTime(modified)),
      element(
        "span",
        { class: "said" },
        `${phases[phase]} · `,
        foreignText(address),
        ` · ${counted(messages, "message")}`,
      ),
    ),
  );
};

/** The list of all conversations, with its filters. */
class ConversationList {
  #text = element("input", {
    type: "search",
    placeholder: "customer, address, id",
    autocomplete: "off",
  });
  #phase = choice([
    ["", "all"],
    ["running", "running"],
    ["bot", "with a bot"],
    ["agent", "with an agent"],
    ["ended", "ended"],
  ]);
  #count = element("p", { class: "count" });
  #empty = element("p", { class: "empty" });
  /** @type {ReturnType<typeof virtualList<ConversationSummary>>} */
  #list = virtualList({
    rowHeight: 62,
    attributes: { "aria-label": "Conversations", role: "region" },
    inner: { role: "list" },
    keyOf: ({ id }) => id,
    position: (place, count) => ({ "aria-posinset": place + 1, "aria-setsize": count }),
    make: listItem,
  });

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    const start = { href: "#conversations/new", class: "button main" };
    this.element = element(
      "div",
      { class: "all" },
      element("a", start, "Start a conversation"),
      element(
        "form",
        { class: "filters", submit: (event) => event.preventDefault() },
        labelled("Search", this.#text),
        labelled("State", this.#phase),
        this.#count,
      ),
      this.#empty,
      this.#list.element,
    );
    for (const control of [this.#text, this.#phase])
      control.addEventListener("input", () => this.update());
  }

  update() {
    const { conversations, latest } = this.page.state;
    const known = [...conversations.values()].reverse();
    const filter = { text: this.#text.value, phase: this.#phase.value };
    const wanted = known.filter((each) => isConversationWanted(each, filter));
    const total = latest?.conversations.total ?? known.length;
    setText(this.#count, shareText(wanted.length, total, "conversation"));
    const none = known.length === 0 ? "No conversations yet." : "None fits the filters.";
    setText(this.#empty, wanted.length === 0 ? none : "");
    this.#list.element.hidden = wanted.length === 0;
    this.#list.show(wanted);
    const [id] = this.page.rest;
    for (const link of this.#list.element.querySelectorAll("a"))
      setAttributes(link, { "aria-current": link.dataset.id === id ? "true" : undefined });
  }
}

/** All conversations, and one of them as a chat. @param {Page} page */
export const conversationsView = (page) => {
  const list = new ConversationList(page);
  const [start, panel] = [new StartForm(page), new ConversationPanel(page)];
  const none = element("p", { class: "empty" }, "Choose a conversation, or start one.");
  const side = element("div", { class: "side" });
  const view = element("div", { class: "conversations" }, list.element, side);
  const update = () => {
    const [id = ""] = page.rest;
    const part = id === "new" ? start : panel;
    const shown = id === "" ? none : part.element;
    if (side.firstChild !== shown) fill(side, shown);
    view.classList.toggle("one", id !== "");
    list.update();
    if (id !== "") part.update();
  };
  return { element: view, update };
};
