import {
  type Fields,
  flag,
  idLength,
  list,
  number,
  object,
  text,
} from "../../provider/definition/define.js";
import {
  contactSubTypes,
  contactTypes,
  contactWords,
  messageLimits as most,
} from "../../provider/service/message-limits.js";
import { senderTypes } from "./messages.js";

/** Nobody reads what these fields are for: they only check a body. */
const doc = "";

const upTo = (max: number) => text({ doc, min: 1, max });
const name = upTo(most.name);
const id = text({ doc, min: idLength, max: idLength });
const needed = { required: true } as const;

const members = (fields: Fields) => object({ doc, fields });
const items = (max: number, fields: Fields) => list({ doc, min: 1, max, of: members(fields) });

const named = (max: number): Fields => ({
  name: { ...name, ...needed },
  value: { ...upTo(max), ...needed },
});

const party = {
  type: text({ doc, values: senderTypes, ...needed }),
  participant: members({ name, type: text({ doc, values: [...senderTypes, "system"] }) }),
};

/** Members of every message, also of one that comes along with a new conversation. */
const ofEveryMessage: Fields = {
  messageId: name,
  type: { ...members({ value: { ...name, ...needed } }), ...needed },
  parent: members({ id: { ...id, ...needed }, messageId: name }),
  content: members({
    text: upTo(most.content),
    html: upTo(most.content),
    json: upTo(most.content),
    xml: upTo(most.content),
    redact: flag({ doc }),
  }),
  sender: { ...members(party), ...needed },
  recipients: members({ recipient: items(1, party) }),
  attributes: members({
    attribute: items(most.attributes, {
      external: flag({ doc }),
      object: text({ doc, values: ["activity", "customer"] }),
      ...named(most.attributeValue),
    }),
  }),
};

const conversation: Fields = {
  // A wrong one is like one that is over.
  id: text({ doc, min: 1 }),
  account: members({
    channel: {
      ...members({ type: { ...name, ...needed }, modified: text({ doc }), id }),
      ...needed,
    },
    address: { ...name, ...needed },
    modified: text({ doc }),
    id,
  }),
  conversationContact: text({ doc, values: contactWords }),
  lookupContact: text({ doc, values: contactWords }),
  entryPoint: members({ id: { ...name, ...needed } }),
  customer: members({
    name,
    type: text({ doc, values: ["individual"] }),
    attributes: items(most.customerAttributes, named(most.shortValue)),
    contacts: members({
      contact: {
        ...items(most.contacts, {
          type: text({ doc, values: contactTypes, ...needed }),
          subType: text({ doc, values: contactSubTypes }),
          address: { ...name, ...needed },
        }),
        ...needed,
      },
    }),
  }),
  clientInfo: members({
    timeOffset: number({ doc, integer: true, min: -most.timeOffset, max: most.timeOffset }),
    referrerName: name,
    referrerUrl: text({ doc, max: most.url }),
  }),
  type: text({ doc, values: ["survey.form"] }),
  parent: members({ id: { ...id, ...needed } }),
  preferredAgent: {
    ...members({ id: upTo(most.agentId), userName: name }),
    rule: { atLeastOne: ["id", "userName"] },
  },
  messages: members({
    message: {
      ...items(most.messages, { ...ofEveryMessage, sent: text({ doc, ...needed }) }),
      ...needed,
    },
  }),
};

/** The body of a call that sends messages (vendor), without the rules on how its members go together. */
export const sendFields: Fields = {
  metadata: members({ attributes: items(most.metadata, named(most.shortValue)) }),
  messages: {
    ...members({
      message: {
        ...items(most.messages, {
          ...ofEveryMessage,
          conversation: { ...members(conversation), ...needed },
          attachments: members({
            attachment: items(most.attachments, {
              id: name,
              name,
              contentType: name,
              size: number({ doc, integer: true, min: 0, max: most.fileSize }),
              url: upTo(most.url),
            }),
          }),
        }),
        ...needed,
      },
    }),
    ...needed,
  },
};
