import type { Definition } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";
import { createAssetRecord, deleteAssetRecord, getAssetRecord } from "../conversations/assets.js";
import { getConversation, sendMessages } from "../conversations/conversations.js";
import { collectionOperations } from "../objects/objects.js";
import type { ScopeLabel } from "../service/access.js";
import { type OperationHandler, pathMatcher, type Route } from "../service/calls.js";
import type { EmulatedService } from "./service.js";

type HubRoute = Route<EmulatedService>;

const route = (
  name: string,
  scopes: readonly ScopeLabel[],
  carryOut: OperationHandler<EmulatedService>,
): HubRoute => {
  const [method = "", template = ""] = name.split(" ");
  return { method, template, name, scopes, carryOut };
};

const collectionRoutes = (definition: Definition): HubRoute[] => {
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

/** Every operation in §4 of the specification. */
export const routes: readonly HubRoute[] = [
  ...resources.flatMap(collectionRoutes),
  route("POST /conversations/messages", ["IM"], sendMessages),
  route("GET /conversations/{id}", ["IM", "IR"], getConversation),
  route("POST /assets", ["IM"], createAssetRecord),
  route("GET /assets/{id}", ["IM", "IR"], getAssetRecord),
  route("DELETE /assets/{id}", ["IM"], deleteAssetRecord),
];

/** The operations at a path relative to the base path; undefined if the path is unknown. */
export const matchPath = pathMatcher(routes);
