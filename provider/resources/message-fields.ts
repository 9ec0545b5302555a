import {
  type Fields,
  flag,
  idLength,
  list,
  map,
  number,
  object,
  text,
} from "../definition/define.js";
import { earlierTypes, senderKinds } from "./message-types.js";

// What can be sent, as the vendor describes it: the client checks it before a call, and writes it,
// the emulator checks it in one.

/** The most messages in one call (vendor). */
export const mostInCall = 10;

/** Bytes of the largest asset, and of the largest attachment (vendor). */
export const largestFile = 10_485_760;

/** The forms of a message's content, of which it has exactly one (vendor). */
export const contentForms = ["text", "html", "json", "xml"] as const;

const services = ["facebookId", "twitterId", "appleOpaqueId", "other"] as const;

/** The types of a customer's contacts (vendor). */
export const contactTypes = ["email", "phone", ...services] as const;

/** The subtypes of a customer's contacts (vendor). */
export const contactSubTypes = ["mobile", "office", "home"] as const;

/** The words by which a conversation names one of its customer's contacts (vendor). */
export const contactWords = [
  "email",
  "phone.mobile",
  "phone.office",
  "phone.home",
  ...services,
] as const;

/** Nobody reads what these fields are for: they only check a body. */
const doc = "";

const needed = { required: true } as const;
const upTo = (max: number) => text({ doc, min: 1, max });
const oneOf = (...values: readonly string[]) => text({ doc, values });
const name = upTo(255);
const neededName = { ...name, ...needed };
const id = text({ doc, min: idLength, max: idLength });
const time = text({ doc, format: "time" });

const members = (fields: Fields) => object({ doc, fields });
const listed = (max: number, fields: Fields) => list({ doc, min: 1, max, of: members(fields) });
/** As the vendor has it, the object around this list may be empty. */
const boxed = (max: number, name: string, fields: Fields) =>
  members({ [name]: listed(max, fields) });
const attributes = map({ doc, min: 1, max: 10, of: upTo(1023) });

const party = {
  type: { ...oneOf(...senderKinds), ...needed },
  participant: members({ name, type: oneOf(...senderKinds, "system") }),
};

const attributeFields: Fields = {
  external: flag({ doc }),
  object: oneOf("activity", "customer"),
  value: { ...upTo(2048), ...needed },
};

/** Members of every message, also of one that comes along with a new conversation. */
const ofEveryMessage: Fields = {
  messageId: name,
  type: { ...neededName, envelope: "value" },
  parent: members({ id: { ...id, ...needed }, messageId: name }),
  content: {
    ...members({
      ...Object.fromEntries(contentForms.map((form) => [form, upTo(10_000)])),
      redact: flag({ doc }),
    }),
    rule: { atLeastOne: contentForms, only: true },
  },
  sender: { ...members(party), ...needed },
  recipients: boxed(1, "recipient", party),
  attributes: boxed(75, "attribute", { ...attributeFields, name: neededName }),
};

/** A party to a message that comes along: no agent, and with its name. */
const namedParty = {
  type: { ...oneOf("custom_bot", "platform_bot", "customer"), ...needed },
  participant: { ...members({ name: neededName }), ...needed },
};

/** A message that comes along with a new conversation: what was said elsewhere before. */
const earlierMessage: Fields = {
  ...ofEveryMessage,
  type: { ...oneOf(...earlierTypes), ...needed, envelope: "value" },
  sender: { ...members(namedParty), ...needed },
  recipients: { ...boxed(1, "recipient", namedParty), ...needed },
  sent: { ...time, ...needed },
};

const contact: Fields = {
  type: { ...oneOf(...contactTypes), ...needed },
  subType: oneOf(...contactSubTypes),
  address: neededName,
};

const conversation: Fields = {
  // A wrong one is like one that is over.
  id: text({ doc, min: 1 }),
  account: members({
    channel: { ...members({ type: neededName, modified: time, id }), ...needed },
    address: neededName,
    modified: time,
    id,
  }),
  conversationContact: oneOf(...contactWords),
  lookupContact: oneOf(...contactWords),
  entryPoint: { ...name, envelope: "id" },
  customer: members({
    name,
    type: { ...oneOf("individual"), default: "individual" },
    attributes,
    contacts: { ...listed(25, contact), envelope: "contact" },
  }),
  clientInfo: members({
    timeOffset: number({ doc, integer: true, min: -720, max: 720 }),
    referrerName: name,
    referrerUrl: text({ doc, max: 2500 }),
  }),
  type: oneOf("survey.form"),
  parent: members({ id: { ...id, ...needed } }),
  preferredAgent: {
    ...members({ id: upTo(idLength), userName: name }),
    rule: { atLeastOne: ["id", "userName"] },
  },
  messages: { ...listed(mostInCall, earlierMessage), envelope: "message" },
};

/** The members of an attachment without an `id`, apart from its `contentType`: all are needed. */
export const fileMembers = ["name", "size", "url"] as const;

const files: Fields = {
  id: name,
  name,
  contentType: name,
  size: number({ doc, integer: true, min: 0, max: largestFile }),
  url: upTo(2500),
};

/** A message, apart from rules on which of its members go together. */
export const messageFields: Fields = {
  ...ofEveryMessage,
  conversation: { ...members(conversation), ...needed },
  attachments: boxed(5, "attachment", files),
};

/** The same message in a program, which lists attachments and keys the attributes by their names. */
export const programMessageFields: Fields = {
  ...messageFields,
  attachments: listed(5, files),
  attributes: map({ doc, min: 1, max: 75, of: members(attributeFields) }),
};

/** An asset; its name has an extension, too. */
export const assetFields: Fields = {
  channel: { ...neededName, envelope: "type" },
  sender: { ...oneOf(...senderKinds), ...needed, envelope: "type" },
  name: neededName,
  size: number({ doc, integer: true, min: 1, max: largestFile, required: true }),
};

/** What is sent beside the messages. */
export const metadataFields: Fields = { attributes };

export const sendFields: Fields = {
  metadata: members(metadataFields),
  messages: { ...listed(mostInCall, messageFields), envelope: "message", ...needed },
};
