import { element, fill, foreignText, setText } from "../elements.mjs";
import { counted } from "../times.mjs";
import { Composer } from "./composer.mjs";
import { transcript } from "./transcript.mjs";

/** @import { ConversationSummary } from "../../shown-conversations.js" */
/** @import { Page } from "../page.mjs" */

/** @type {Readonly<Record<ConversationSummary["phase"], string>>} */
export const phases = { bot: "with a bot", agent: "with an agent", ended: "ended" };

/** Who a conversation is with. @param {ConversationSummary} conversation */
export const customerOf = ({ customer }) => customer || "Nameless customer";

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
export class ConversationPanel {
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
