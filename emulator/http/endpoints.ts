import type { Definition } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";

/** Scopes by their label in the specification (§4, §5.1). */
export const scopes = {
  M: "app.conversation.conversationmgr.manage",
  R: "app.conversation.conversationmgr.read",
  IM: "app.conversation.conversationmgr.interaction.manage",
  IR: "app.conversation.conversationmgr.interaction.read",
} as const;

type ScopeLabel = keyof typeof scopes;

export type Action = "create" | "list" | "get" | "update" | "delete";

/** One operation of the service. */
export interface Endpoint {
  readonly method: string;
  readonly template: string;
  /** `POST /channels`: name of the bucket, and of the endpoint in logs and faults. */
  readonly name: string;
  /** Any one of them is enough. */
  readonly scopes: readonly string[];
  /** What it does to which kind; left out for the operations of the running service. */
  readonly setUp?: { readonly definition: Definition; readonly action: Action };
}

const endpoint = (
  method: string,
  template: string,
  labels: readonly ScopeLabel[],
  setUp?: Endpoint["setUp"],
): Endpoint => ({
  method,
  template,
  name: `${method} ${template}`,
  scopes: labels.map((label) => scopes[label]),
  ...(setUp ? { setUp } : {}),
});

const actions: readonly (readonly [Action, method: string, item: string, readonly ScopeLabel[]])[] =
  [
    ["create", "POST", "", ["M"]],
    ["list", "GET", "", ["M", "R"]],
    ["get", "GET", "/{id}", ["M", "R"]],
    ["update", "PUT", "/{id}", ["M"]],
    ["delete", "DELETE", "/{id}", ["M"]],
  ];

const setUpEndpoints = (definition: Definition): Endpoint[] =>
  actions.map(([action, method, item, labels]) => {
    const only: readonly ScopeLabel[] = action === "list" && definition.listScopes ? ["M"] : labels;
    return endpoint(method, `/${definition.collection}${item}`, only, { definition, action });
  });

/** Every operation of the specification's §4. */
export const endpoints: readonly Endpoint[] = [
  ...resources.flatMap(setUpEndpoints),
  endpoint("POST", "/conversations/messages", ["IM"]),
  endpoint("GET", "/conversations/{id}", ["IM", "IR"]),
  endpoint("POST", "/assets", ["IM"]),
  endpoint("GET", "/assets/{id}", ["IM", "IR"]),
  endpoint("DELETE", "/assets/{id}", ["IM"]),
];

/** Paths without a variable part come first: `/conversations/messages` is no conversation. */
const byPath = new Map<string, Map<string, Endpoint>>();
for (const each of endpoints) {
  const methods = byPath.get(each.template) ?? new Map<string, Endpoint>();
  byPath.set(each.template, methods.set(each.method, each));
}

export interface Match {
  readonly methods: ReadonlyMap<string, Endpoint>;
  readonly template: string;
  readonly id?: string;
}

/** The operations of a path below the base path; undefined where there are none. */
export const matchPath = (path: string): Match | undefined => {
  const exact = path.includes("{") ? undefined : byPath.get(path);
  if (exact) return { methods: exact, template: path };
  const [, collection = "", id = "", ...more] = path.split("/");
  const template = `/${collection}/{id}`;
  const methods = byPath.get(template);
  return methods && id !== "" && more.length === 0 ? { methods, template, id } : undefined;
};
