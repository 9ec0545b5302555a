import {
  choice,
  element,
  fill,
  inertJson,
  labelled,
  optionOf,
  setText,
  shortText,
} from "./elements.mjs";
import { conversationOf, sendMessage } from "./page.mjs";

/** @import { ConversationAddress, FormTables } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */

/** @typedef {Readonly<Record<string, unknown>>} Json */

/** @param {unknown} value @returns {value is Json} */
const isJson = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {unknown} value @param {readonly string[]} steps */
const at = (value, ...steps) =>
  steps.reduce(
    (/** @type {unknown} */ here, step) => (isJson(here) ? here[step] : undefined),
    value,
  );

/** The text found there; empty for anything else. @param {unknown} value @param {string[]} steps */
const textIn = (value, ...steps) => {
  const found = at(value, ...steps);
  return typeof found === "string" ? found : "";
};

/** @param {unknown} value @param {string[]} steps */
const objectsAt = (value, ...steps) => {
  const found = at(value, ...steps);
  return Array.isArray(found) ? found.filter(isJson) : [];
};

/** Where a conversation is shown. @param {string} id */
export const linkToConversation = (id) => `#conversations/${encodeURIComponent(id)}`;

/** Which side of a conversation a sender is on, by the word on the wire. @param {string} sender */
export const sideOfSender = (sender) => {
  if (sender === "customer") return "customer";
  return sender.endsWith("_bot") ? "bot" : "agent";
};

/** `notes.txt (78 bytes)` @param {Json} attachment */
const attachmentText = (attachment) => {
  const name = textIn(attachment, "name") || textIn(attachment, "url") || textIn(attachment, "id");
  const { size } = attachment;
  return typeof size === "number" ? `${name} (${size} bytes)` : name;
};

/** A message that says something, and not only that something happened. @param {string} type */
const isSpoken = (type) => type === "text" || type.startsWith("richMessage.");

/**
 * A message as the transcript shows it.
 *
 * @typedef {object} ShownMessage
 * @property {string} id
 * @property {string} messageId
 * @property {string} type
 * @property {string} sender the word on the wire
 * @property {"customer" | "bot" | "agent"} side
 * @property {string} name of the sender
 * @property {string} text
 * @property {string} json the rest of its content; empty if there is none
 * @property {readonly string[]} attachments
 * @property {boolean} isEvent it says that something happened, in one line
 * @property {string} time
 * @property {string} recipients
 */

/** @param {unknown} content */
const restOf = (content) => {
  if (!isJson(content))
    return content === undefined || typeof content === "string" ? "" : inertJson(content);
  const { text, ...rest } = content;
  const all = typeof text === "string" ? rest : content;
  return Object.keys(all).length > 0 ? inertJson(all) : "";
};

/** @param {Json} message as the service gives it back @returns {ShownMessage} */
export const shownMessage = (message) => {
  const type = textIn(message, "type", "value");
  const sender = textIn(message, "sender", "type");
  const { content } = message;
  const attachments = objectsAt(message, "attachments", "attachment").map(attachmentText);
  const text = typeof content === "string" ? content : textIn(content, "text");
  const json = restOf(content);
  const recipients = objectsAt(message, "recipients", "recipient").map((each) =>
    [textIn(each, "type"), textIn(each, "participant", "name")].filter(Boolean).join(" "),
  );
  return {
    id: textIn(message, "id"),
    messageId: textIn(message, "messageId"),
    type,
    sender,
    side: sideOfSender(sender),
    name: textIn(message, "sender", "participant", "name"),
    text,
    json,
    attachments,
    isEvent: !isSpoken(type) && attachments.length === 0,
    time: textIn(message, "created"),
    recipients: recipients.join(", "),
  };
};

/**
 * A message to be sent.
 *
 * @param {object} draft
 * @param {string} draft.sender
 * @param {string} draft.type
 * @param {string} draft.name shown name of the sender; empty: none
 * @param {string} draft.text
 * @param {string} draft.json further content: the text of a JSON object; empty: none
 * @param {Json} draft.conversation
 * @throws {Error} if the further content is no JSON object
 */
export const messageToSend = ({ sender, type, name, text, json, conversation }) => {
  const further = json.trim() === "" ? {} : parsedObject(json);
  const content = text === "" ? further : { ...further, text };
  return {
    type: { value: type },
    conversation,
    sender: { type: sender, ...(name === "" ? {} : { participant: { name } }) },
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
};

/** @param {string} text @returns {Json} */
const parsedObject = (text) => {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isJson(value)) return value;
  throw new Error(
    'Further content must be a JSON object, such as {"listpicker": {"options": []}}.',
  );
};

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

/** Offers texts to choose from; what was chosen stays, if it is among them. @param {HTMLSelectElement} control @param {readonly string[]} texts */
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

  /** @throws {Error} if the further content is no JSON object */
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

/** @param {ConversationAddress} address @param {number} place */
const addressOption = ({ name, address, channelType }, place) => {
  const where = `${shortText(address)} on ${channelType}`;
  return element("option", { value: place, dir: "auto" }, `${shortText(name) || where} (${where})`);
};

/** Where a new conversation begins: an account, a customer and the first message. */
export class StartForm {
  #account = element("select");
  #customer = element("input", {
    value: "Ada Example",
    required: true,
    maxlength: 255,
    autocomplete: "off",
  });
  #none = element(
    "p",
    { class: "empty" },
    "There is no account in use yet, on which a conversation could begin.",
  );
  /** @type {readonly ConversationAddress[] | undefined} */
  #offered = undefined;

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.composer = new Composer(page, {
      label: "Start a conversation",
      send: "Start",
      isStart: true,
      before: [labelled("On the account", this.#account), labelled("Customer", this.#customer)],
      customer: () => this.#customer.value,
      conversation: () => this.#conversation(),
    });
    const title = element("h2", {}, "Start a conversation");
    this.element = element("section", { class: "start" }, title, this.#none, this.composer.element);
  }

  #conversation() {
    const chosen = this.page.state.addresses[Number(this.#account.value)];
    return {
      account: {
        channel: { type: chosen?.channelType ?? "" },
        address: chosen?.address ?? "",
      },
      customer: { name: this.#customer.value },
    };
  }

  update() {
    const { addresses } = this.page.state;
    this.composer.update("");
    this.#none.hidden = addresses.length > 0;
    this.composer.element.hidden = addresses.length === 0;
    if (addresses === this.#offered) return;
    const before = this.#offered?.[Number(this.#account.value)];
    this.#offered = addresses;
    fill(this.#account, ...addresses.map(addressOption));
    // The same account as before, wherever it stands in the list now.
    const place = addresses.findIndex(
      ({ address, channelType }) =>
        address === before?.address && channelType === before.channelType,
    );
    this.#account.value = String(Math.max(0, place));
  }
}
