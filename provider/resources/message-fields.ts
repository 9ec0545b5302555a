import { type Fields, flag, idLength, list, number, object, text } from "../definition/define.js";
import { senderKinds } from "./message-types.js";

// What can be sent, as the vendor describes it: the client checks it before a call, the emulator in one.

/** The most messages in one call (vendor). */
export const mostInCall = 10;

/** Bytes of the largest asset, and of the largest attachment (vendor). */
export const largestFile = 10_485_760;

/** The longest name of anything (vendor). */
export const longestName = 255;

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
const name = upTo(longestName);
const neededName = { ...name, ...needed };
const id = text({ doc, min: 1, max: idLength });
const time = text({ doc });

const members = (fields: Fields) => object({ doc, fields });
const items = (max: number, fields: Fields) => list({ doc, min: 1, max, of: members(fields) });
const named = (max: number): Fields => ({ name: neededName, value: { ...upTo(max), ...needed } });

const party = {
  type: { ...oneOf(...senderKinds), ...needed },
  participant: members({ name, type: oneOf(...senderKinds, "system") }),
};

/** Members of every message, also of one that comes along with a new conversation. */
const ofEveryMessage: Fields = {
  messageId: name,
  type: { ...members({ value: neededName }), ...needed },
  parent: members({ id: { ...id, ...needed }, messageId: name }),
  content: members({
    ...Object.fromEntries(contentForms.map((form) => [form, upTo(10_000)])),
    redact: flag({ doc }),
  }),
  sender: { ...members(party), ...needed },
  recipients: members({ recipient: items(1, party) }),
  attributes: members({
    attribute: items(75, {
      external: flag({ doc }),
      object: oneOf("activity", "customer"),
      ...named(2048),
    }),
  }),
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
  entryPoint: members({ id: neededName }),
  customer: members({
    name,
    type: oneOf("individual"),
    attributes: items(10, named(1023)),
    contacts: members({
      contact: {
        ...items(25, {
          type: { ...oneOf(...contactTypes), ...needed },
          subType: oneOf(...contactSubTypes),
          address: neededName,
        }),
        ...needed,
      },
    }),
  }),
  clientInfo: members({
    timeOffset: number({ doc, integer: true, min: -720, max: 720 }),
    referrerName: name,
    referrerUrl: text({ doc, max: 2500 }),
  }),
  type: oneOf("survey.form"),
  parent: members({ id: { ...id, ...needed } }),
  preferredAgent: { ...members({ id, userName: name }), rule: { atLeastOne: ["id", "userName"] } },
  messages: members({
    message: { ...items(mostInCall, { ...ofEveryMessage, sent: time }), ...needed },
  }),
};

/** A message, apart from rules on which of its members go together. */
export const messageFields: Fields = {
  ...ofEveryMessage,
  conversation: { ...members(conversation), ...needed },
  attachments: members({
    attachment: items(5, {
      id: name,
      name,
      contentType: name,
      size: number({ doc, integer: true, min: 0, max: largestFile }),
      url: upTo(2500),
    }),
  }),
};

/** What is sent beside the messages. */
export const metadataFields: Fields = { attributes: items(10, named(1023)) };

/** The body of a call that sends messages. */
export const sendFields: Fields = {
  metadata: members(metadataFields),
  messages: {
    ...members({ message: { ...items(mostInCall, messageFields), ...needed } }),
    ...needed,
  },
};
