import { inertJson } from "./elements.mjs";

/** @typedef {Readonly<Record<string, unknown>>} Json */

/** @param {unknown} value @returns {value is Json} */
export const isJson = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {unknown} value @param {readonly string[]} steps */
const at = (value, ...steps) =>
  steps.reduce(
    (/** @type {unknown} */ here, step) => (isJson(here) ? here[step] : undefined),
    value,
  );

/** The text found there; empty for anything else. @param {unknown} value @param {string[]} steps */
export const textIn = (value, ...steps) => {
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
 * @property {string} json the rest of its content; empty where there is none
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
 * @throws {Error} where the further content is no JSON object
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
