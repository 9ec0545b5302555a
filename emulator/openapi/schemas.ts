import type { Definition } from "../../provider/definition/define.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { type Switches, vendorWord } from "../control/switches.js";
import { knownMessageTypes, senderTypes } from "../runtime/sender-rules.js";
import { fieldsSchema } from "./field-schema.js";

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;
const dateTime = { type: "string", format: "date-time" } as const;

const objectWith = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  ...(required.length > 0 ? { required } : {}),
});

/** A schema of this document. */
export const schemaAt = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

const ownMembers = { id: text, created: dateTime, modified: dateTime };

/** What a kind looks like when it is given, when it is read, and in a list. */
const kindSchemas = (definition: Definition, switches: Switches): JsonObject => {
  const { kind, doc, fields, rule, listKey } = definition;
  const given = { description: doc, ...fieldsSchema(fields, rule, { switches, isRead: false }) };
  const read = { description: doc, ...fieldsSchema(fields, rule, { switches, isRead: true }) };
  return {
    [kind]: given,
    [`${kind}Read`]: { allOf: [read, objectWith(ownMembers, ...Object.keys(ownMembers))] },
    [`${kind}List`]: objectWith(
      {
        paginationInfo: schemaAt("PaginationInfo"),
        [listKey]: { type: "array", items: schemaAt(`${kind}Read`) },
      },
      "paginationInfo",
      listKey,
    ),
  };
};

const message = (switches: Switches): JsonObject =>
  objectWith(
    {
      messageId: { ...text, minLength: 1, maxLength: 255, description: "The sender's own id." },
      type: objectWith({ value: { enum: knownMessageTypes } }, "value"),
      content: { type: ["object", "string", "null"], description: "Of a text: `{ text }`." },
      conversation: {
        type: "object",
        description: "`id` continues one; `account` and `customer` start one.",
      },
      sender: objectWith(
        { type: { enum: senderTypes.map((type) => vendorWord(type, switches)) } },
        "type",
      ),
      attachments: objectWith(
        { attachment: { type: "array", items: { type: "object" } } },
        "attachment",
      ),
      parent: { ...objectWith({ messageId: text }), description: "An earlier message." },
    },
    "type",
    "sender",
    "conversation",
  );

const messages = (item: JsonObject): JsonObject =>
  objectWith(
    {
      metadata: {},
      messages: objectWith(
        { message: { type: "array", items: item, minItems: 1, maxItems: 1000 } },
        "message",
      ),
    },
    "messages",
  );

const assetMembers = {
  id: text,
  contentUrl: { type: "string", format: "uri" },
  contentUrlExpiry: dateTime,
};

const runtimeSchemas = (switches: Switches): JsonObject => ({
  Message: message(switches),
  MessageRequest: messages(schemaAt("Message")),
  MessageAnswer: messages({ allOf: [schemaAt("Message"), objectWith({ id: text }, "id")] }),
  Conversation: objectWith({ id: text, messages: { type: "object" } }, "id", "messages"),
  AssetRequest: objectWith(
    {
      channel: objectWith({ type: text }, "type"),
      sender: objectWith(
        { type: { enum: senderTypes.map((type) => vendorWord(type, switches)) } },
        "type",
      ),
      name: { ...text, maxLength: 255, description: "File name with extension." },
      size: { type: "integer", minimum: 1, maximum: 10_485_760, description: "Bytes." },
    },
    "channel",
    "sender",
    "name",
    "size",
  ),
  AssetUpload: objectWith(assetMembers, ...Object.keys(assetMembers)),
  AssetDownload: objectWith(
    { ...assetMembers, name: text, contentType: text, size: count },
    ...Object.keys(assetMembers),
  ),
});

const detail = objectWith(
  { key: { ...text, maxLength: 255 }, value: { ...text, maxLength: 255 } },
  "key",
);

/** Every schema of the document. */
export const schemasFor = (switches: Switches): JsonObject => ({
  ...Object.assign({}, ...resources.map((definition) => kindSchemas(definition, switches))),
  ...runtimeSchemas(switches),
  Created: objectWith({ id: text }, "id"),
  PaginationInfo: objectWith(
    { count, pagenum: count, pagesize: count },
    "count",
    "pagenum",
    "pagesize",
  ),
  Error: {
    ...objectWith(
      {
        code: { ...text, pattern: "^[0-9]{3}-[0-9]+$" },
        developerMessage: { ...text, maxLength: 255 },
        details: { type: "array", maxItems: 30, items: detail },
        userMessage: text,
      },
      "code",
      "developerMessage",
    ),
    description: "A refusal of the service.",
  },
});
