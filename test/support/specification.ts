/**
 * Tables of the specification, copied by hand: what the client and the emulator are held against. Nothing here is
 * computed by either of them.
 */

export const scopes = {
  M: "app.conversation.conversationmgr.manage",
  R: "app.conversation.conversationmgr.read",
  IM: "app.conversation.conversationmgr.interaction.manage",
  IR: "app.conversation.conversationmgr.interaction.read",
} as const;

export type ScopeLabel = keyof typeof scopes;

/** §4.1: each collection, and the member that holds its objects in a list. */
export const listKeys: Readonly<Record<string, string>> = {
  authentications: "authentication",
  clientapplications: "clientApplication",
  participants: "participant",
  channels: "channel",
  orchestrations: "orchestration",
  accounts: "account",
};

interface SpecifiedOperation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** Any one of them is enough. */
  readonly scopes: readonly ScopeLabel[];
  /** Whether it has the higher rate of messages and assets. */
  readonly rate: "standard" | "special";
}

const standard = "standard";
const special = "special";

/** §4.1: five operations for each collection. */
export const setUpOperations: readonly SpecifiedOperation[] = Object.keys(listKeys).flatMap(
  (name): SpecifiedOperation[] => [
    { method: "POST", path: `/${name}`, scopes: ["M"], rate: standard },
    {
      method: "GET",
      path: `/${name}`,
      scopes: name === "authentications" ? ["M"] : ["M", "R"],
      rate: standard,
    },
    { method: "GET", path: `/${name}/{id}`, scopes: ["M", "R"], rate: standard },
    { method: "PUT", path: `/${name}/{id}`, scopes: ["M"], rate: standard },
    { method: "DELETE", path: `/${name}/{id}`, scopes: ["M"], rate: standard },
  ],
);

/** §4.2. */
export const runtimeOperations: readonly SpecifiedOperation[] = [
  { method: "POST", path: "/conversations/messages", scopes: ["IM"], rate: special },
  { method: "GET", path: "/conversations/{id}", scopes: ["IM", "IR"], rate: special },
  { method: "POST", path: "/assets", scopes: ["IM"], rate: special },
  { method: "GET", path: "/assets/{id}", scopes: ["IM", "IR"], rate: special },
  { method: "DELETE", path: "/assets/{id}", scopes: ["IM"], rate: standard },
];

const agents = ["platform_agent", "custom_agent"];
const bots = ["platform_bot", "custom_bot"];

export const senders: readonly string[] = ["customer", ...agents, ...bots];

const fromStaff = [...agents, ...bots];

/** §6: the types of messages, and who may send them. */
export const messageSenders: readonly (readonly [type: string, senders: readonly string[]])[] = [
  ["text", senders],
  ["typing.start", senders],
  ["typing.end", senders],
  ["customer.info", senders],
  ["error", senders],
  ["conversation.end", senders],
  ["escalation.transfer", fromStaff],
  ["pagePush", fromStaff],
  ["richMessage.listpicker", fromStaff],
  ["richMessage.quickreply", fromStaff],
  ["richMessage.template", fromStaff],
  ["richMessage.timepicker", fromStaff],
  ["richMessage.richlink", fromStaff],
  ["richMessage.form", fromStaff],
  ["richMessage.payment", fromStaff],
  ["richMessage.app", fromStaff],
  ["richMessage.authentication", fromStaff],
  ["conversation.state", agents],
  ["agent.join", agents],
  ["agent.available", agents],
  ["agent.unavailable", agents],
  ["agent.transfer", agents],
  ["queue.transfer", agents],
  ["authentication.success", ["customer"]],
  ["authentication.failure", ["customer"]],
  ["customer.active", ["customer"]],
  ["customer.inactive", ["customer"]],
  ["delete.soft", ["customer"]],
  ["delete.permanent", ["customer"]],
  ["undo", ["customer"]],
];

/** Calls a second on the plans Developer, Basic, Enterprise. */
type Rates = readonly [developer: number, basic: number, enterprise: number];

/** §8.2 and §8.3: the standard rates of each service and version. */
export const standardRates: readonly (readonly [service: string, version: string, Rates])[] = [
  ["Conversation", "v3", [0.16, 0.5, 1]],
  ["Message Router", "v3", [0.16, 0.5, 0.5]],
  ["Notification Manager", "v3", [0.16, 0.5, 1]],
  ["Secure Messaging Manager", "v3", [0.16, 0.5, 1]],
  ["AI Services", "v3", [0.16, 0.3, 1]],
  ["AI Services", "v4", [30, 30, 30]],
  ["Auth Manager", "v3", [1, 10, 60]],
  ["Case Manager", "v3", [0.16, 0.5, 1]],
  ["Customer Manager", "v3", [0.16, 0.5, 1]],
  ["Department Manager", "v3", [0.16, 0.16, 0.5]],
  ["Department Manager", "v4", [0.16, 0.16, 0.5]],
  ["Events Channel", "v3", [0.16, 0.16, 0.5]],
  ["File Manager", "v3", [0.16, 0.5, 0.5]],
  ["Info Manager", "v3", [0.16, 0.16, 0.5]],
  ["Info Manager", "v4", [0.16, 0.16, 0.5]],
  ["Integration Manager", "v4", [0.16, 0.5, 1]],
  ["Micro Services Manager", "v3", [0.16, 0.5, 1]],
  ["Personalization Manager", "v4", [0.16, 0.5, 1]],
  ["User Manager", "v3", [1, 10, 60]],
  ["Work Assignment Manager", "v3", [0.16, 0.16, 0.5]],
  ["Content Manager", "v4", [1, 10, 60]],
  ["Event Manager", "v4", [0.5, 0.5, 0.5]],
  ["Portal Manager", "v3", [1, 10, 60]],
  ["Portal Manager", "v4", [1, 10, 60]],
];

/** The endpoints of the same tables that have rates of their own. */
export const specialRates: readonly (readonly [
  service: string,
  version: string,
  endpoint: string,
  Rates,
])[] = [
  ["Conversation", "v3", "POST /conversations/messages", [0.16, 1, 5]],
  ["Conversation", "v3", "GET /conversations/{id}", [0.16, 1, 5]],
  ["Conversation", "v3", "POST /assets", [0.16, 1, 5]],
  ["Conversation", "v3", "GET /assets/{id}", [0.16, 1, 5]],
  ["Message Router", "v3", "GET /entrypoint/{id}/agentavailability", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/capacity", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/checkeligibility", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/chatallowed", [0.16, 0.5, 1]],
  ["Message Router", "v3", "GET /entrypoint/{id}/livesessionstatus", [0.16, 0.5, 1]],
  ["Notification Manager", "v3", "POST /messages", [0.16, 1, 5]],
  ["Notification Manager", "v3", "POST /assets", [0.16, 1, 5]],
  ["AI Services", "v3", "GET /instantanswers/suggestions", [10, 20, 40]],
  ["AI Services", "v3", "GET /instantanswers/generative", [0.16, 0.3, 30]],
  ["AI Services", "v3", "GET /instantanswers/extractive", [0.16, 0.3, 30]],
  ["User Manager", "v3", "POST /user", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "PATCH /user", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "DELETE /user/{id}", [0.16, 0.16, 0.5]],
  ["User Manager", "v3", "DELETE /user/ext-id/{id}", [0.16, 0.16, 0.5]],
  ["Content Manager", "v4", "POST /import/content", [0.02, 0.08, 0.17]],
  ["Content Manager", "v4", "POST /import/content/validate", [0.02, 0.08, 0.17]],
  ["Portal Manager", "v3", "GET /portals/{portalID}/search/typeahead", [10, 20, 60]],
];
