import {
  choice,
  element,
  fill,
  foreignText,
  labelled,
  setAttributes,
  setText,
} from "../elements.mjs";
import { linkToConversation } from "../message-text.mjs";
import { clockTime, counted, shareText } from "../times.mjs";
import { virtualList } from "../virtual-list.mjs";
import { ConversationPanel, customerOf, phases } from "./conversation-panel.mjs";
import { StartForm } from "./start-form.mjs";

/** @import { ConversationSummary } from "../../shown-conversations.js" */
/** @import { Page } from "../page.mjs" */

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
