import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../../provider/kernel/json.js";
import { parseBody } from "../http/read-body.js";
import { type Answer, Refusal } from "../http/refusal.js";
import type { World } from "../objects/world.js";
import { createAsset, deleteAsset, getAsset } from "./assets/asset-operations.js";
import { readConversation } from "./read-conversation.js";
import { sendMessages } from "./send-messages.js";

/** One call of a runtime operation that may be carried out. */
interface RuntimeCall {
  readonly request: IncomingMessage;
  readonly id: string;
  readonly body: () => JsonObject;
}

/** The operations of the specification's §4.2, by the names of their endpoints. */
const operations: Readonly<Record<string, (world: World, call: RuntimeCall) => Answer>> = {
  "POST /conversations/messages": (world, { body }) => sendMessages(world, body()),
  "GET /conversations/{id}": (world, { id }) => readConversation(world, id),
  "POST /assets": (world, { body, request }) => createAsset(world, body(), request),
  "GET /assets/{id}": (world, { id, request }) => getAsset(world, id, request),
  "DELETE /assets/{id}": (world, { id }) => deleteAsset(world, id),
};

/**
 * Carries out a runtime operation.
 *
 * @param endpoint such as `POST /assets`
 * @throws Refusal where the service says no
 */
export const carryOutRuntime = (
  world: World,
  endpoint: string,
  request: IncomingMessage,
  id: string,
  bytes: Buffer,
): Answer => {
  const operation = operations[endpoint];
  if (!operation) throw new Refusal(404, "404-100", "This emulator does not serve this operation.");
  const body = () => parseBody(bytes, request.headers["content-type"]);
  return operation(world, { request, id, body });
};
