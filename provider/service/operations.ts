import type { Definition } from "../definition/define.js";
import { resources } from "../resources/index.js";
import type { Endpoint, Method } from "./transport.js";

/** The service's scopes (specification §5.1). */
export const scopes = {
  manage: "app.conversation.conversationmgr.manage",
  read: "app.conversation.conversationmgr.read",
  interactionManage: "app.conversation.conversationmgr.interaction.manage",
  interactionRead: "app.conversation.conversationmgr.interaction.read",
} as const;

export type Scope = (typeof scopes)[keyof typeof scopes];

/** The scopes to request if none are configured: all four. */
export const defaultScopes: readonly Scope[] = Object.values(scopes);

export const isScope = (name: string): name is Scope =>
  defaultScopes.some((known) => known === name);

/**
 * The service's scopes among those that a token URL reports. Undefined if it reports none of them,
 * because a token URL that uses its own scope names reveals nothing about the grant.
 */
export const knownScopes = (named: readonly string[] = []): readonly Scope[] | undefined => {
  const granted = named.filter(isScope);
  return granted.length > 0 ? granted : undefined;
};

const notIdempotent: readonly Method[] = ["POST", "PATCH"];

/** Whether sending a call twice has the same effect as sending it once (RFC 9110 §9.2.2). */
export const isIdempotent = ({ method }: { readonly method: Method }): boolean =>
  !notIdempotent.includes(method);

/** A service operation (specification §4). */
export interface Operation extends Endpoint {
  /** A description for messages and docs, such as `list every channel`. */
  readonly title: string;
  /** The scopes for this operation; any one of them suffices. */
  readonly scopes: readonly Scope[];
  /** Whether the plan's standard rate or its special rate applies (specification §8.2). */
  readonly rate: "standard" | "special";
}

/** The five operations that every setup collection has (specification §4.1). */
export const setUpActions = ["create", "list", "get", "update", "delete"] as const;

export type SetUpAction = (typeof setUpActions)[number];

const anyReader: readonly Scope[] = [scopes.manage, scopes.read];
const managers: readonly Scope[] = [scopes.manage];

/** In the order of the specification. */
const setUpShapes: Readonly<
  Record<SetUpAction, { method: Method; item: string; scopes: readonly Scope[]; verb: string }>
> = {
  create: { method: "POST", item: "", scopes: managers, verb: "create" },
  list: { method: "GET", item: "", scopes: anyReader, verb: "list every" },
  get: { method: "GET", item: "/{id}", scopes: anyReader, verb: "read" },
  update: { method: "PUT", item: "/{id}", scopes: managers, verb: "update" },
  delete: { method: "DELETE", item: "/{id}", scopes: managers, verb: "delete" },
};

/** One of the five operations of a kind's collection. */
export const setUpOperation = (definition: Definition, action: SetUpAction): Operation => {
  const { method, item, verb, scopes: standard } = setUpShapes[action];
  const listScopes = action === "list" ? definition.listScopes : undefined;
  return {
    method,
    template: `/${definition.collection}${item}`,
    title: `${verb} ${definition.noun}`,
    scopes: listScopes?.map((name) => scopes[name]) ?? standard,
    rate: "standard",
  };
};

/** The operations for using an account (specification §4.2). */
export const runtimeOperations = {
  sendMessage: {
    method: "POST",
    template: "/conversations/messages",
    title: "send message",
    scopes: [scopes.interactionManage],
    rate: "special",
  },
  getConversation: {
    method: "GET",
    template: "/conversations/{id}",
    title: "read conversation",
    scopes: [scopes.interactionManage, scopes.interactionRead],
    rate: "special",
  },
  createAsset: {
    method: "POST",
    template: "/assets",
    title: "create asset",
    scopes: [scopes.interactionManage],
    rate: "special",
  },
  getAsset: {
    method: "GET",
    template: "/assets/{id}",
    title: "read asset",
    scopes: [scopes.interactionManage, scopes.interactionRead],
    rate: "special",
  },
  deleteAsset: {
    method: "DELETE",
    template: "/assets/{id}",
    title: "delete asset",
    scopes: [scopes.interactionManage],
    rate: "standard",
  },
} as const satisfies Readonly<Record<string, Operation>>;

/** Every operation of the service: five per kind, then the runtime operations. */
export const allOperations = (): readonly Operation[] => [
  ...resources.flatMap((kind) => setUpActions.map((action) => setUpOperation(kind, action))),
  ...Object.values(runtimeOperations),
];
