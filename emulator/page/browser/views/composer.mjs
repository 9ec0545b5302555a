import { choice, element, fill, labelled, optionOf, setText } from "../elements.mjs";
import { linkToConversation, messageToSend } from "../message-text.mjs";
import { conversationOf, sendMessage } from "../server-calls.mjs";

/** @import { FormTables } from "../../form-tables.js" */
/** @import { Json } from "../message-text.mjs" */
/** @import { Page } from "../page.mjs" */

/**
 * @typedef {object} ComposerOptions
 * @property {string} label of the form
 * @property {string} send label of its button
 * @property {() => Json} conversation that the message goes to
 * @property {() => string} customer name of the customer
 * @property {readonly HTMLElement[]} [before] further fields
 * @property {boolean} [isStart] it starts a conversation, as a customer does
 */

/** @typedef {{ readonly text: string, readonly json: string }} Draft */

/** Offers texts to choose from; what was chosen stays, where it is among them. @param {HTMLSelectElement} control @param {readonly string[]} texts */
const offer = (control, texts) => {
  const before = control.value;
  fill(control, ...texts.map(optionOf));
  control.value = texts.includes(before) ? before : (texts[0] ?? "");
};

/** Sends messages as a sender that may send them. */
export class Composer {
  #type = choice([]);
  #name = element("input", { autocomplete: "off", maxlength: 255 });
  #text = element("textarea", { rows: 2 });
  #json = element("textarea", { rows: 4, spellcheck: "false", class: "code" });
  #said = element("p", { class: "said", role: "status" });
  /** @type {FormTables | undefined} What is offered now. */
  #tables = undefined;
  /** The conversation that is written to; empty: a new one. */
  #id = "";
  /** What was begun elsewhere, by conversation. @type {Map<string, Draft>} */
  #drafts = new Map();
  sender = choice([]);

  /** @param {Page} page @param {ComposerOptions} options */
  constructor(page, options) {
    this.page = page;
    this.options = options;
    this.button = element("button", { type: "submit", class: "main" }, options.send);
    this.element = this.#form();
    this.sender.addEventListener("input", () => this.#offerTypes());
    this.#text.addEventListener("keydown", (event) => this.#sendOnEnter(event));
    this.update("");
  }

  /** Each conversation keeps what was begun in it. @param {string} id of the conversation */
  update(id) {
    if (this.#tables !== this.page.tables) this.#offerSenders();
    if (id === this.#id) return;
    const draft = { text: this.#text.value, json: this.#json.value };
    if (draft.text + draft.json === "") this.#drafts.delete(this.#id);
    else this.#drafts.set(this.#id, draft);
    this.#id = id;
    const { text, json } = this.#drafts.get(id) ?? { text: "", json: "" };
    this.#text.value = text;
    this.#json.value = json;
    setText(this.#said, "");
  }

  #form() {
    const { label, before = [] } = this.options;
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (!this.button.disabled) void this.#send();
    };
    return element(
      "form",
      { class: "composer", "aria-label": label, submit },
      element(
        "div",
        { class: "fields" },
        ...before,
        labelled("Sender", this.sender),
        labelled("Message type", this.#type),
        labelled("Name of the sender", this.#name),
      ),
      labelled("Text", this.#text, "Enter sends, Shift and Enter begins a new line."),
      element("div", { class: "send" }, this.#furtherContent(), this.button),
      this.#said,
    );
  }

  #furtherContent() {
    const json = labelled("Content as a JSON object", this.#json);
    return element("details", {}, element("summary", {}, "Further content"), json);
  }

  get #senders() {
    const { senders } = this.page.tables;
    return senders.filter(({ type }) => !this.options.isStart || type === "customer");
  }

  #offerSenders() {
    this.#tables = this.page.tables;
    offer(
      this.sender,
      this.#senders.map(({ type }) => type),
    );
    this.#offerTypes();
  }

  #offerTypes() {
    const sender = this.#senders.find(({ type }) => type === this.sender.value);
    offer(this.#type, sender?.messageTypes ?? []);
  }

  /** @param {KeyboardEvent} event */
  #sendOnEnter(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.element.requestSubmit();
  }

  /** @throws {Error} where the further content is no JSON object */
  #message() {
    const isCustomer = this.sender.value === "customer";
    return messageToSend({
      sender: this.sender.value,
      type: this.#type.value,
      name: this.#name.value || (isCustomer ? this.options.customer() : ""),
      text: this.#text.value,
      json: this.#json.value,
      conversation: this.options.conversation(),
    });
  }

  async #send() {
    const [id, text, json] = [this.#id, this.#text.value, this.#json.value];
    setText(this.#said, "");
    this.button.disabled = true;
    try {
      const answer = await sendMessage(this.#message());
      this.#forget(id, { text, json });
      this.#goOn(id, answer);
    } catch (error) {
      if (id === this.#id)
        setText(this.#said, error instanceof Error ? error.message : String(error));
    }
    this.button.disabled = false;
    this.page.lookNow();
  }

  /** What was sent goes; what was typed meanwhile stays. @param {string} id @param {Draft} sent */
  #forget(id, sent) {
    if (id !== this.#id) {
      this.#drafts.delete(id);
      return;
    }
    if (this.#text.value === sent.text) this.#text.value = "";
    if (this.#json.value === sent.json) this.#json.value = "";
  }

  /** Wherever the person went meanwhile, nobody is called back. @param {string} id @param {unknown} answer */
  #goOn(id, answer) {
    if (id !== this.#id || !this.element.isConnected) return;
    if (this.options.isStart) this.page.go(linkToConversation(conversationOf(answer)));
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === this.button) this.#text.focus();
  }
}
