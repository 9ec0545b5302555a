import {
  choice,
  element,
  formOf,
  group,
  inertJson,
  labelled,
  offer,
  setText,
  shortText,
  statusLine,
} from "./elements.mjs";
import { linkToConversation } from "./links.mjs";
import { causeText, isRecord, parsedJson, sendMessage } from "./page.mjs";

/** @import { FormTables } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */

/** @typedef {Readonly<Record<string, unknown>>} Json */

/** @param {unknown} value @param {readonly string[]} steps */
const at = (value, ...steps) =>
  steps.reduce(
    (/** @type {unknown} */ here, step) => (isRecord(here) ? here[step] : undefined),
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
  return Array.isArray(found) ? found.filter(isRecord) : [];
};

/** The side of a conversation that a sender is on, given the sender's wire type. @param {string} sender */
export const sideOfSender = (sender) => {
  if (sender === "customer") return "customer";
  return sender.endsWith("_bot") ? "bot" : "agent";
};

/** An attachment: its text, such as `notes.txt (78 bytes)`, the id of its asset, and its URL elsewhere, if a browser can open that, with its host unless the text begins with it. @param {Json} attachment */
const shownAttachment = (attachment) => {
  const [id, url] = [textIn(attachment, "id"), textIn(attachment, "url")];
  const name = textIn(attachment, "name") || url || id;
  const { size } = attachment;
  const text = typeof size === "number" ? `${name} (${size} bytes)` : name;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return { text, id, url: "", host: "" };
  const { origin, host } = new URL(url);
  return { text, id, url, host: text.startsWith(`${origin}/`) ? "" : host };
};

/** The text of a message in its form; empty if it is JSON. @param {unknown} content */
const textOf = (content) =>
  textIn(content, "text") || textIn(content, "html") || textIn(content, "xml");

/** The JSON of content, for people; empty if it is text. @param {unknown} content */
const jsonOf = (content) => {
  if (content === undefined || textOf(content) !== "") return "";
  const json = textIn(content, "json");
  const value = json === "" ? content : parsedJson(json);
  return value === undefined ? json : inertJson(value);
};

/** A message as the transcript shows it. @typedef {ReturnType<typeof shownMessage>} ShownMessage */

/** @param {Json} message as the service returns it */
export const shownMessage = (message) => {
  const type = textIn(message, "type", "value");
  const sender = textIn(message, "sender", "type");
  const { content } = message;
  const attachments = objectsAt(message, "attachments", "attachment").map(shownAttachment);
  const isSpoken = type === "text" || type.startsWith("richMessage.") || attachments.length > 0;
  const recipients = objectsAt(message, "recipients", "recipient").map((each) =>
    [textIn(each, "type"), textIn(each, "participant", "name")].filter(Boolean).join(" "),
  );
  return {
    id: textIn(message, "id"),
    messageId: textIn(message, "messageId"),
    type,
    /** The word in the wire format. */
    sender,
    side: sideOfSender(sender),
    name: textIn(message, "sender", "participant", "name"),
    text: textOf(content),
    json: jsonOf(content),
    attachments,
    /** It reports an event, in one line. */
    isEvent: !isSpoken,
    time: textIn(message, "created"),
    recipients: recipients.join(", "),
  };
};

/** The content of a message, in one of its forms; undefined if there is none. @param {string} text @param {string} json */
const contentOf = (text, json) => {
  if (json.trim() === "") return text === "" ? undefined : { text };
  if (!isRecord(parsedJson(json)))
    throw new Error('The content must be a JSON object, such as {"title": "Which order is it?"}.');
  if (text !== "") throw new Error("Enter either text or JSON: a message has one of them.");
  return { json };
};

/**
 * The message to send, built from a draft.
 *
 * @param {object} draft
 * @param {string} draft.sender
 * @param {string} draft.type
 * @param {string} draft.name sender's displayed name; empty if none
 * @param {string} draft.text
 * @param {string} draft.json the text of a JSON object, in place of a text; empty if none
 * @param {Json} draft.conversation
 * @throws {Error} if the JSON is not an object, if there is text, too, or if a text message is empty
 */
export const messageToSend = ({ sender, type, name, text, json, conversation }) => {
  const content = contentOf(text, json);
  if (type === "text" && !content) throw new Error("Enter some text.");
  return {
    type: { value: type },
    conversation,
    sender: { type: sender, ...(name === "" ? {} : { participant: { name } }) },
    ...(content ? { content } : {}),
  };
};

/** Sends messages to a conversation as a sender that may send them, or starts a conversation as a customer. */
export class Composer {
  #account = choice();
  #customer = element("input", {
    value: "Ada Example",
    required: true,
    maxlength: 255,
    autocomplete: "off",
  });
  #sender = choice();
  #type = choice();
  #name = element("input", { autocomplete: "off", maxlength: 255 });
  #text = element("textarea", { rows: 2 });
  #json = element("textarea", { rows: 4, spellcheck: "false", class: "code" });
  #said = statusLine();
  /** @type {FormTables | undefined} What is offered now. */
  #tables = undefined;
  /** @type {unknown} */
  #addresses = undefined;

  /** @param {Page} page @param {string} id of the conversation; empty: it starts one */
  constructor(page, id) {
    this.page = page;
    this.id = id;
    this.button = element("button", { type: "submit", class: "main" }, id ? "Send" : "Start");
    const start = [
      labelled("Account address", this.#account),
      labelled("Customer", this.#customer),
    ];
    this.element = formOf(
      { class: "composer", "aria-label": id ? "Send a message" : "Start a conversation" },
      () => {
        if (!this.button.disabled) void this.#send();
      },
      group(
        "fields",
        ...(id ? [] : start),
        labelled("Sender", this.#sender),
        labelled("Message type", this.#type),
        labelled("Sender's name", this.#name),
      ),
      labelled("Text", this.#text, "Press Enter to send, or Shift+Enter to start a new line."),
      group(
        "send",
        element(
          "details",
          {},
          element("summary", {}, "JSON content"),
          labelled("Content as a JSON object", this.#json),
        ),
        this.button,
      ),
      this.#said,
    );
    this.#sender.addEventListener("input", () => this.#offerTypes());
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.element.requestSubmit();
    });
  }

  /** Offers the current senders, message types, and accounts. */
  update() {
    const { tables, state } = this.page;
    if (this.#tables !== tables) {
      this.#tables = tables;
      offer(
        this.#sender,
        this.#senders.map(({ type }) => type),
      );
      this.#offerTypes();
    }
    if (this.#addresses === state.addresses) return;
    this.#addresses = state.addresses;
    const options = state.addresses.map(({ name, address, channelType }) => {
      const place = `${shortText(address)} on ${channelType}`;
      const label = `${shortText(name) || place} (${place})`;
      return /** @type {const} */ ([JSON.stringify([channelType, address]), label]);
    });
    offer(this.#account, options);
  }

  get #senders() {
    const { senders } = this.page.tables;
    return senders.filter(({ type }) => this.id !== "" || type === "customer");
  }

  #offerTypes() {
    const sender = this.#senders.find(({ type }) => type === this.#sender.value);
    offer(this.#type, sender?.messageTypes ?? []);
  }

  /** The conversation that a message is sent to, and the customer's name. */
  #conversation() {
    if (this.id !== "")
      return {
        conversation: { id: this.id },
        customer: this.page.state.conversationOf(this.id)?.customer ?? "",
      };
    const [type, address] = JSON.parse(this.#account.value);
    const { value: name } = this.#customer;
    return {
      conversation: { account: { channel: { type }, address }, customer: { name } },
      customer: name,
    };
  }

  /** @throws {Error} if there is nothing to send, or not in the right form */
  #message() {
    const { conversation, customer } = this.#conversation();
    const { value: sender } = this.#sender;
    return messageToSend({
      sender,
      type: this.#type.value,
      name: this.#name.value || (sender === "customer" ? customer : ""),
      text: this.#text.value,
      json: this.#json.value,
      conversation,
    });
  }

  async #send() {
    const [text, json] = [this.#text.value, this.#json.value];
    setText(this.#said, "");
    this.button.disabled = true;
    try {
      const answer = await sendMessage(this.#message());
      // What was typed meanwhile stays.
      if (this.#text.value === text) this.#text.value = "";
      if (this.#json.value === json) this.#json.value = "";
      // If the person has left the view meanwhile, stay where they are.
      if (this.element.isConnected) this.#goOn(answer);
    } catch (error) {
      setText(this.#said, causeText(error));
    }
    this.button.disabled = false;
    this.page.lookNow();
  }

  /** @param {unknown} answer */
  #goOn(answer) {
    const [first] = objectsAt(answer, "messages", "message");
    if (this.id === "") location.hash = linkToConversation(textIn(first, "conversation", "id"));
    const { activeElement } = document;
    if (activeElement === document.body || activeElement === this.button) this.#text.focus();
  }
}
