import type {
  Definition,
  Field,
  Fields,
  MemberRule,
  TextField,
} from "../../provider/definition/define.js";
import { membersOf, wireName } from "../../provider/definition/fields.js";
import { type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { packageVersion } from "../../provider/kernel/package.js";
import { resources } from "../../provider/resources/index.js";
import { envelopeOf } from "../objects/validate.js";
import { knownMessageTypes, senderTypes } from "../runtime/messages.js";
import { type Switches, vendorWord } from "../service/switches.js";
import { scopesByLabel } from "../token/tokens.js";
import { type Route, routes } from "./api.js";

/** What a schema is for. */
interface SchemaUse {
  readonly switches: Switches;
  /** For responses: nothing is required there, as secrets may be left out or be asterisks. */
  readonly isRead: boolean;
}

/** What a field's definition adds to its schema: how certain it is, and whether it is a secret. */
const notes = ({ doc, basis, secret }: Field): readonly (readonly [string, unknown])[] => [
  ["description", doc],
  ["x-basis", basis],
  ["x-secret", secret],
];

const formats = {
  url: { format: "uri", pattern: "^[Hh][Tt][Tt][Pp][Ss]?://" },
  email: { format: "email" },
  base64: { contentEncoding: "base64" },
} as const;

/** Whether what is read may be in the service's own forms. */
const isInOwnForms = ({ isRead, switches }: SchemaUse): boolean =>
  isRead && switches.forms === "own";

const textSchema = (field: TextField, use: SchemaUse): JsonObject =>
  objectOf([
    ["type", field.envelope && isInOwnForms(use) ? ["string", "number"] : "string"],
    ["enum", field.values?.map((word) => vendorWord(word, use.switches))],
    ["minLength", field.values ? undefined : field.min],
    // The service may add a slash or a carriage return.
    ["maxLength", field.values || isInOwnForms(use) ? undefined : field.max],
    ["default", field.default],
    ...(field.format ? Object.entries(formats[field.format]) : []),
  ]);

const listOf = (items: JsonObject, min?: number, max?: number): JsonObject =>
  objectOf([
    ["type", "array"],
    ["items", items],
    ["minItems", min],
    ["maxItems", max],
  ]);

const objectWith = (properties: JsonObject, ...required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  ...(required.length > 0 ? { required } : {}),
});

/** An object that has all of these members. */
const objectWithAll = (properties: JsonObject): JsonObject =>
  objectWith(properties, ...Object.keys(properties));

/** The schema of the value without its envelope. */
const valueSchema = (field: Field, use: SchemaUse): JsonObject => {
  switch (field.type) {
    case "text":
      return textSchema(field, use);
    case "number":
      if (isInOwnForms(use)) return { type: "string" };
      return objectOf([
        ["type", field.integer ? "integer" : "number"],
        ["minimum", field.min],
        ["maximum", field.max],
      ]);
    case "flag":
      return objectOf([
        ["type", "boolean"],
        ["default", field.default],
      ]);
    case "reference":
      return { type: "string", minLength: field.length ?? 1, maxLength: field.length ?? 255 };
    case "object":
      return fieldsSchema(field.fields, field.rule, use);
    case "list":
      return listOf(fieldSchema(field.of, use), field.min, field.max);
    case "map": {
      const { key, value } = membersOf(field);
      const name = { type: "string", minLength: 1 };
      const members = { [key]: name, [value]: fieldSchema(field.of, use) };
      const entry = objectWith(members, ...(use.isRead ? [key] : [key, value]));
      return listOf(entry, field.min, field.max);
    }
  }
};

const fieldSchema = (field: Field, use: SchemaUse): JsonObject => {
  const isHidden = use.isRead && field.secret;
  const value = isHidden ? { type: "string" } : valueSchema(field, use);
  const key = envelopeOf(field);
  const schema = key === undefined ? value : objectWithAll({ [key]: value });
  // In its own forms, the service sends null for optional members that were not given.
  const read =
    isInOwnForms(use) && !field.required ? { anyOf: [schema, { type: "null" }] } : schema;
  return objectOf([...Object.entries(read), ...notes(field)]);
};

const ruleSchema = (rule: MemberRule | undefined): JsonObject => {
  if (!rule) return {};
  if ("atLeastOne" in rule)
    return { anyOf: rule.atLeastOne.map((member) => ({ required: [member] })) };
  const { exactlyOne, discriminator } = rule;
  const variants = Object.entries(exactlyOne).map(([word, member]) => ({
    properties: { [discriminator]: { const: word } },
    required: [member],
  }));
  return { oneOf: variants };
};

/** The schema of an object with these fields in JSON; further members are allowed. */
const fieldsSchema = (fields: Fields, rule: MemberRule | undefined, use: SchemaUse): JsonObject => {
  const members = Object.entries(fields).map(
    ([name, field]) => [wireName(name, field), field] as const,
  );
  const schemas = members.map(([name, field]) => [name, fieldSchema(field, use)] as const);
  const required = members.flatMap(([name, field]) =>
    field.required && !use.isRead ? [name] : [],
  );
  return { ...objectWith(objectOf(schemas), ...required), ...(use.isRead ? {} : ruleSchema(rule)) };
};

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;
const dateTime = { type: "string", format: "date-time" } as const;

/** A schema of this document. */
const schemaAt = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

const ownMembers = { id: text, created: dateTime, modified: dateTime };

/** The schemas of a kind when written, when read, and in a list. */
const kindSchemas = (definition: Definition, switches: Switches): JsonObject => {
  const { kind, doc, fields, rule, listKey } = definition;
  const given = { description: doc, ...fieldsSchema(fields, rule, { switches, isRead: false }) };
  const read = { description: doc, ...fieldsSchema(fields, rule, { switches, isRead: true }) };
  return {
    [kind]: given,
    [`${kind}Read`]: { allOf: [read, objectWithAll(ownMembers)] },
    [`${kind}List`]: objectWithAll({
      paginationInfo: schemaAt("PaginationInfo"),
      [listKey]: { type: "array", items: schemaAt(`${kind}Read`) },
    }),
  };
};

const senderSchema = (switches: Switches): JsonObject =>
  objectWithAll({ type: { enum: senderTypes.map((type) => vendorWord(type, switches)) } });

const message = (switches: Switches): JsonObject =>
  objectWith(
    {
      messageId: {
        ...text,
        minLength: 1,
        maxLength: 255,
        description: "The sender's own ID for the message.",
      },
      type: objectWithAll({ value: { enum: knownMessageTypes } }),
      content: { type: ["object", "string", "null"], description: "Text is sent as `{ text }`." },
      conversation: {
        type: "object",
        description: "`id` continues a conversation; `account` and `customer` start one.",
      },
      sender: senderSchema(switches),
      attachments: objectWithAll({ attachment: { type: "array", items: { type: "object" } } }),
      parent: {
        ...objectWith({ messageId: text }),
        description: "The earlier message that this message refers to.",
      },
    },
    "type",
    "sender",
    "conversation",
  );

const messages = (item: JsonObject): JsonObject =>
  objectWith(
    {
      metadata: {},
      messages: objectWithAll({
        message: { type: "array", items: item, minItems: 1, maxItems: 1000 },
      }),
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
  MessageAnswer: messages({ allOf: [schemaAt("Message"), objectWithAll({ id: text })] }),
  Conversation: objectWithAll({ id: text, messages: { type: "object" } }),
  AssetRequest: objectWithAll({
    channel: objectWithAll({ type: text }),
    sender: senderSchema(switches),
    name: { ...text, maxLength: 255, description: "File name with an extension." },
    size: { type: "integer", minimum: 1, maximum: 10_485_760, description: "Bytes." },
  }),
  AssetUpload: objectWithAll(assetMembers),
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
const schemasFor = (switches: Switches): JsonObject => ({
  ...Object.assign({}, ...resources.map((definition) => kindSchemas(definition, switches))),
  ...runtimeSchemas(switches),
  Created: objectWithAll({ id: text }),
  PaginationInfo: objectWithAll({ count, pagenum: count, pagesize: count }),
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
    description: "The error for a refused or failed call.",
  },
});

/** The request and response of an operation, as names of schemas. */
interface Shapes {
  readonly summary: string;
  readonly tag: string;
  readonly takes?: string;
  readonly status: number;
  readonly gives?: string;
}

/** The setup operations: specification §4.1. */
const setUpShapes: Readonly<Record<string, Shapes>> = Object.fromEntries(
  resources.flatMap(({ kind, noun, collection }): [string, Shapes][] => {
    const tag = collection;
    const item = `/${collection}/{id}`;
    return [
      [
        `POST /${collection}`,
        { tag, summary: `Create: ${noun}`, takes: kind, status: 201, gives: "Created" },
      ],
      [
        `GET /${collection}`,
        { tag, summary: `List all: ${noun}`, status: 200, gives: `${kind}List` },
      ],
      [`GET ${item}`, { tag, summary: `Get one: ${noun}`, status: 200, gives: `${kind}Read` }],
      [`PUT ${item}`, { tag, summary: `Update: ${noun}`, takes: kind, status: 204 }],
      [`DELETE ${item}`, { tag, summary: `Delete: ${noun}`, status: 204 }],
    ];
  }),
);

/** The runtime operations: specification §4.2. */
const runtimeShapes: Readonly<Record<string, Shapes>> = {
  "POST /conversations/messages": {
    tag: "conversations",
    summary: "Send messages",
    takes: "MessageRequest",
    status: 202,
    gives: "MessageAnswer",
  },
  "GET /conversations/{id}": {
    tag: "conversations",
    summary: "Get a completed conversation",
    status: 200,
    gives: "Conversation",
  },
  "POST /assets": {
    tag: "assets",
    summary: "Create an asset and get its upload URL",
    takes: "AssetRequest",
    status: 200,
    gives: "AssetUpload",
  },
  "GET /assets/{id}": {
    tag: "assets",
    summary: "Get an asset's download URL",
    status: 200,
    gives: "AssetDownload",
  },
  "DELETE /assets/{id}": {
    tag: "assets",
    summary: "Delete an asset that is not used in any message",
    status: 204,
  },
};

const shapes: Readonly<Record<string, Shapes>> = { ...setUpShapes, ...runtimeShapes };

const json = (schema: string): JsonObject => ({
  content: { "application/json": { schema: schemaAt(schema) } },
});

const refusals = {
  "400": "The body, the query, or the object's state does not allow the call.",
  "401": "The token is missing, invalid, or expired.",
  "403": "The token lacks the required scope, or the object must not be changed.",
  "404": "The object does not exist.",
  "429": "Too many requests on this endpoint.",
  "500": "An unexpected failure, such as a full disk.",
} as const;

const refusalWith = (description: string): JsonObject => ({ description, ...json("Error") });

/**
 * Refusals of an operation whose status a switch decides; a status listed above keeps its
 * description.
 */
const refusalsBySwitch = (
  { method, template }: Route,
  switches: Switches,
): Readonly<Record<string, string>> => {
  const { inUseStatus, usedAssetStatus, duplicateStatus, staleModified } = switches;
  const isSetUp = resources.some(({ collection }) => template.startsWith(`/${collection}`));
  if (method === "DELETE")
    return {
      [isSetUp ? inUseStatus : usedAssetStatus]: "The object is in use and cannot be deleted.",
    };
  if (!isSetUp || method === "GET") return {};
  const isChecked = method === "PUT" && staleModified === "refuse";
  return {
    [duplicateStatus]: "A unique name is already in use.",
    ...(isChecked
      ? { "409": "The object has changed since it was read, or a unique name is already in use." }
      : {}),
  };
};

const refusalResponses = (route: Route, switches: Switches): JsonObject =>
  Object.fromEntries(
    Object.entries({ ...refusalsBySwitch(route, switches), ...refusals }).map(
      ([status, description]) => [status, refusalWith(description)],
    ),
  );

const parameter = (name: string, place: "path" | "query", schema: JsonObject): JsonObject => ({
  name,
  in: place,
  ...(place === "path" ? { required: true } : {}),
  schema,
});

const pageParameters = [
  parameter("$pagenum", "query", { type: "integer", minimum: 1, maximum: 999, default: 1 }),
  parameter("$pagesize", "query", { type: "integer", minimum: 1, maximum: 75 }),
];

const isList = ({ method, template }: Route): boolean =>
  method === "GET" && !template.includes("{");

const parametersOf = (route: Route): readonly JsonObject[] => [
  ...(route.template.includes("{id}")
    ? [parameter("id", "path", { type: "string", minLength: 1 })]
    : []),
  ...(isList(route) ? pageParameters : []),
];

/** Such as `postChannels` or `getChannelsById`. */
const operationId = ({ method, template }: Route): string =>
  method.toLowerCase() +
  template
    .replace("{id}", "by-id")
    .replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase());

const operationOf = (route: Route, switches: Switches): JsonObject => {
  const shape = shapes[route.name];
  if (!shape) throw new Error(`No response schema is defined for ${route.name}.`);
  const { tag, summary, takes, status, gives } = shape;
  const parameters = parametersOf(route);
  return {
    operationId: operationId(route),
    tags: [tag],
    summary,
    // Any one of the scopes is enough.
    security: route.scopes.map((label) => ({ oAuthClient: [scopesByLabel[label]] })),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(takes ? { requestBody: { required: true, ...json(takes) } } : {}),
    responses: {
      [status]: { description: "Done.", ...(gives ? json(gives) : {}) },
      ...refusalResponses(route, switches),
    },
  };
};

const pathsOf = (switches: Switches): JsonObject =>
  Object.fromEntries(
    [...Map.groupBy(routes, ({ template }) => template)].map(([template, methods]) => [
      template,
      Object.fromEntries(
        methods.map((route) => [route.method.toLowerCase(), operationOf(route, switches)]),
      ),
    ]),
  );

const security = (tokenUrl: string): JsonObject => ({
  oAuthClient: {
    type: "oauth2",
    description: "A client application that acts on its own behalf (specification §5.1).",
    flows: {
      clientCredentials: {
        tokenUrl,
        scopes: Object.fromEntries(Object.values(scopesByLabel).map((scope) => [scope, scope])),
      },
    },
  },
});

/**
 * The emulator's API as an OpenAPI 3.1 document, derived from the definitions: every operation with
 * its scopes, request, and response.
 *
 * @param addresses of the service and of its token URL, as a caller sees them
 */
export const openApiDocument = (
  { baseUrl, tokenUrl }: { readonly baseUrl: string; readonly tokenUrl: string },
  switches: Switches,
): JsonObject => ({
  openapi: "3.1.0",
  info: {
    title: "Conversation service",
    version: "v3",
    summary: `As emulated by pulumi-conversation ${packageVersion()}.`,
    description:
      "`x-basis` shows the source of each member: the specification (spec), a public reference (public), or an assumption (assumed). Each uncertainty about the service has an emulator switch; this document reflects the current values. By default, the emulator keeps members that no schema defines.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: baseUrl }],
  tags: [...new Set(Object.values(shapes).map(({ tag }) => tag))].map((name) => ({ name })),
  paths: pathsOf(switches),
  components: { schemas: schemasFor(switches), securitySchemes: security(tokenUrl) },
});
