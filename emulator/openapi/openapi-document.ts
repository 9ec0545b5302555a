import type { JsonObject } from "../../provider/kernel/json.js";
import { packageVersion } from "../../provider/kernel/package-version.js";
import { resources } from "../../provider/resources/index.js";
import type { Switches } from "../control/switches.js";
import { type Route, routes } from "../http/routes.js";
import { scopesByLabel } from "../token/scopes.js";
import { schemaAt, schemasFor } from "./schemas.js";

/** What an operation takes and answers; names are those of schemas. */
interface Shapes {
  readonly summary: string;
  readonly tag: string;
  readonly takes?: string;
  readonly status: number;
  readonly gives?: string;
}

/** The set-up operations: specification §4.1. */
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
    summary: "Create an asset and the address that its content goes to",
    takes: "AssetRequest",
    status: 200,
    gives: "AssetUpload",
  },
  "GET /assets/{id}": {
    tag: "assets",
    summary: "Get the address that the content comes from",
    status: 200,
    gives: "AssetDownload",
  },
  "DELETE /assets/{id}": {
    tag: "assets",
    summary: "Delete an asset that was not used",
    status: 204,
  },
};

const shapes: Readonly<Record<string, Shapes>> = { ...setUpShapes, ...runtimeShapes };

const json = (schema: string): JsonObject => ({
  content: { "application/json": { schema: schemaAt(schema) } },
});

const refusals = {
  "400": "The body, the query or the state of the object does not allow it.",
  "401": "The token is missing, invalid or expired.",
  "403": "The token lacks the scope, or the object may not be changed.",
  "404": "There is no such object.",
  "429": "Too many requests on this endpoint.",
  "500": "An unexpected failure, such as a full disk.",
} as const;

const refusalWith = (description: string): JsonObject => ({ description, ...json("Error") });

/** Refusals of an operation whose status a switch decides; where it is one of those above, that one says it. */
const refusalsBySwitch = (
  { method, template }: Route,
  switches: Switches,
): Readonly<Record<string, string>> => {
  const { inUseStatus, usedAssetStatus, duplicateStatus, staleModified } = switches;
  const isSetUp = resources.some(({ collection }) => template.startsWith(`/${collection}`));
  if (method === "DELETE")
    return { [isSetUp ? inUseStatus : usedAssetStatus]: "It is in use and cannot be deleted." };
  if (!isSetUp || method === "GET") return {};
  const isChecked = method === "PUT" && staleModified === "refuse";
  return {
    [duplicateStatus]: "A unique name is taken.",
    ...(isChecked ? { "409": "The object was modified since, or a unique name is taken." } : {}),
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
  if (!shape) throw new Error(`No shape is known of ${route.name}.`);
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
    description: "A client application on its own behalf (specification §5.1).",
    flows: {
      clientCredentials: {
        tokenUrl,
        scopes: Object.fromEntries(Object.values(scopesByLabel).map((scope) => [scope, scope])),
      },
    },
  },
});

/**
 * The API that the emulator serves, as an OpenAPI 3.1 document made of the definitions: every operation
 * with its scopes, what it takes and what it answers.
 *
 * @param addresses of the service and of its token address, as a caller sees them
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
      "`x-basis` says how certain a member is: stated in the specification (spec), in a public reference (public), or assumed. What is uncertain about the service is a switch of the emulator; this document shows its present positions. Members that no schema names are kept.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: baseUrl }],
  tags: [...new Set(Object.values(shapes).map(({ tag }) => tag))].map((name) => ({ name })),
  paths: pathsOf(switches),
  components: { schemas: schemasFor(switches), securitySchemes: security(tokenUrl) },
});
