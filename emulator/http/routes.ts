import type { Definition } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";
import { collectionOperations } from "../objects/collections.js";
import {
  createAssetRecord,
  deleteAssetRecord,
  getAssetRecord,
} from "../runtime/assets/asset-operations.js";
import { getConversation, sendMessages } from "../runtime/conversation-operations.js";
import type { OperationHandler } from "../service.js";
import type { ScopeLabel } from "../token/scopes.js";
import type { SiblingRates } from "./rate-limit.js";
import { HttpError } from "./response.js";

/** One operation of the service. */
export interface Route {
  readonly method: string;
  readonly template: string;
  /** `POST /channels`: the endpoint, as rates, logs and faults call it. */
  readonly name: string;
  /** Any one of these scopes is enough; empty: any client and user may call. */
  readonly scopes: readonly ScopeLabel[];
  /** Rates of its own; left out: those of the conversation service. */
  readonly rates?: SiblingRates;
  readonly carryOut: OperationHandler;
}

const route = (name: string, scopes: readonly ScopeLabel[], carryOut: OperationHandler): Route => {
  const [method = "", template = ""] = name.split(" ");
  return { method, template, name, scopes, carryOut };
};

const collectionRoutes = (definition: Definition): Route[] => {
  const { collection, listScopes } = definition;
  const { create, list, get, update, remove } = collectionOperations(definition);
  return [
    route(`POST /${collection}`, ["M"], create),
    route(`GET /${collection}`, listScopes ? ["M"] : ["M", "R"], list),
    route(`GET /${collection}/{id}`, ["M", "R"], get),
    route(`PUT /${collection}/{id}`, ["M"], update),
    route(`DELETE /${collection}/{id}`, ["M"], remove),
  ];
};

/** Every operation of the specification's §4. */
export const routes: readonly Route[] = [
  ...resources.flatMap(collectionRoutes),
  route("POST /conversations/messages", ["IM"], sendMessages),
  route("GET /conversations/{id}", ["IM", "IR"], getConversation),
  route("POST /assets", ["IM"], createAssetRecord),
  route("GET /assets/{id}", ["IM", "IR"], getAssetRecord),
  route("DELETE /assets/{id}", ["IM"], deleteAssetRecord),
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
