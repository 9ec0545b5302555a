import { choice, element, fill, labelled, optionOf, setText } from "../elements.mjs";
import { messageToSend } from "../message-text.mjs";
import { conversationOf, sendMessage } from "../server-calls.mjs";

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

/** Sends messages as a sender that may send them. */
export class Composer {
  #type = choice([]);
  #name = element("input", { autocomplete: "off", maxlength: 255 });
  #text = element("textarea", { rows: 2 });
  #json = element("textarea", { rows: 4, spellcheck: "false", class: "code" });
  #said = element("p", { class: "said", role: "status" });

  /** @param {Page} page @param {ComposerOptions} options */
  constructor(page, options) {
    this.page = page;
    this.options = options;
    this.senders = page.tables.senders.filter(
      ({ type }) => !options.isStart || type === "customer",
    );
    this.sender = choice(this.senders.map(({ type }) => type));
    this.button = element("button", { type: "submit", class: "main" }, options.send);
    this.element = this.#form();
    this.sender.addEventListener("input", () => this.#offerTypes());
    this.#text.addEventListener("keydown", (event) => this.#sendOnEnter(event));
    this.#offerTypes();
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

  #offerTypes() {
    const before = this.#type.value;
    const types = this.senders.find(({ type }) => type === this.sender.value)?.messageTypes ?? [];
    fill(this.#type, ...types.map(optionOf));
    this.#type.value = types.includes(before) ? before : (types[0] ?? "");
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
    setText(this.#said, "");
    this.button.disabled = true;
    try {
      this.#sent(await sendMessage(this.#message()));
    } catch (error) {
      setText(this.#said, error instanceof Error ? error.message : String(error));
    }
    this.button.disabled = false;
    this.page.lookNow();
  }

  /** @param {unknown} answer */
  #sent(answer) {
    this.#text.value = "";
    this.#json.value = "";
    if (this.options.isStart) this.page.go(`#conversations/${conversationOf(answer)}`);
    else this.#text.focus();
  }
}
