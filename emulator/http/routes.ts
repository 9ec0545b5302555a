import type { Definition } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";
import { HttpError } from "./response.js";

/** Scopes by their label in the specification (§4, §5.1). */
export const scopesByLabel = {
  M: "app.conversation.conversationmgr.manage",
  R: "app.conversation.conversationmgr.read",
  IM: "app.conversation.conversationmgr.interaction.manage",
  IR: "app.conversation.conversationmgr.interaction.read",
} as const;

type ScopeLabel = keyof typeof scopesByLabel;

/** What can be done with a set-up collection (specification §4.1). */
export type CollectionAction = "create" | "list" | "get" | "update" | "delete";

/** What can be done with conversations and assets (specification §4.2). */
export type RuntimeAction =
  | "sendMessages"
  | "getConversation"
  | "createAsset"
  | "getAsset"
  | "deleteAsset";

type RouteTarget =
  | { readonly definition: Definition; readonly action: CollectionAction }
  | { readonly definition?: never; readonly action: RuntimeAction };

/** One operation of the service. */
export interface Route {
  readonly method: string;
  readonly template: string;
  /** `POST /channels`: the endpoint, as rates, logs and faults call it. */
  readonly name: string;
  /** Any one of them is enough. */
  readonly scopes: readonly string[];
  readonly target: RouteTarget;
}

const route = (
  method: string,
  template: string,
  labels: readonly ScopeLabel[],
  target: RouteTarget,
): Route => ({
  method,
  template,
  name: `${method} ${template}`,
  scopes: labels.map((label) => scopesByLabel[label]),
  target,
});

const collectionRoutes = (definition: Definition): Route[] => {
  const { collection, listScopes } = definition;
  const [all, one] = [`/${collection}`, `/${collection}/{id}`];
  return [
    route("POST", all, ["M"], { definition, action: "create" }),
    route("GET", all, listScopes ? ["M"] : ["M", "R"], { definition, action: "list" }),
    route("GET", one, ["M", "R"], { definition, action: "get" }),
    route("PUT", one, ["M"], { definition, action: "update" }),
    route("DELETE", one, ["M"], { definition, action: "delete" }),
  ];
};

/** Every operation of the specification's §4. */
export const routes: readonly Route[] = [
  ...resources.flatMap(collectionRoutes),
  route("POST", "/conversations/messages", ["IM"], { action: "sendMessages" }),
  route("GET", "/conversations/{id}", ["IM", "IR"], { action: "getConversation" }),
  route("POST", "/assets", ["IM"], { action: "createAsset" }),
  route("GET", "/assets/{id}", ["IM", "IR"], { action: "getAsset" }),
  route("DELETE", "/assets/{id}", ["IM"], { action: "deleteAsset" }),
];

/** Paths without a variable part come first: `/conversations/messages` is no conversation. */
const byPath = new Map<string, Map<string, Route>>();
for (const each of routes) {
  const methods = byPath.get(each.template) ?? new Map<string, Route>();
  byPath.set(each.template, methods.set(each.method, each));
}

/** The operations of a path. */
export interface PathMatch {
  readonly methods: ReadonlyMap<string, Route>;
  readonly template: string;
  /** What stands for `{id}`. */
  readonly id: string;
}

/** The operations of a path below the base path; undefined where there are none. */
export const matchPath = (path: string): PathMatch | undefined => {
  const exact = path.includes("{") ? undefined : byPath.get(path);
  if (exact) return { methods: exact, template: path, id: "" };
  const [, collection = "", id = "", ...more] = path.split("/");
  const template = `/${collection}/{id}`;
  const methods = byPath.get(template);
  return methods && id !== "" && more.length === 0 ? { methods, template, id } : undefined;
};

/** @throws HttpError where the path or the method is none of the service's */
export const routeFor = (match: PathMatch | undefined, method: string): Route => {
  if (!match) throw new HttpError(404, "404-100", "There is no such path.");
  const found = match.methods.get(method);
  if (found) return found;
  const allow = [...match.methods.keys()].join(", ");
  throw new HttpError(405, "405-100", `${match.template} allows ${allow}.`, [], { allow });
};
