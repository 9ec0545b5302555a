import { randomUUID } from "node:crypto";
import { z } from "zod";
import { toWire } from "../definition/wire.js";
import type { EngineSession } from "../engine/engine-session.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { runtimeOperations } from "../service/http/operations.js";
import { brokenLink, type ChainFindings } from "./broken-link.js";
import { smokeTest } from "./smoke-test-definition.js";
import type { SmokeTestInputs } from "./smoke-test-inputs.js";
import type { Chain } from "./walk-chain.js";

/** The message that was accepted; its ids, by any of which a probe may tell it. */
export interface SmokeMessage {
  readonly conversationId: string;
  /** The test's own id of the message. */
  readonly messageId: string;
  /** The service's id of the message, where its answer tells one. */
  readonly serviceId?: string;
}

const operation = runtimeOperations.sendMessage;

const sender = (test: Pick<SmokeTestInputs, "sender">, { settings }: EngineSession) => {
  const field = smokeTest.fields.sender;
  return { type: field ? toWire(field, test.sender, settings) : test.sender };
};

const send = (session: EngineSession, message: JsonObject) =>
  session.service.request(operation, {
    body: { messages: { message: [message] } },
    signal: session.signal,
  });

/** A message that starts a conversation (public reference, examples). */
const firstMessage = (
  test: SmokeTestInputs,
  { channelType, address, entryPoint }: Chain,
  session: EngineSession,
  messageId: string,
): JsonObject => ({
  messageId,
  type: { value: "text" },
  content: { text: test.text },
  conversation: {
    account: { channel: { type: channelType }, address },
    ...(entryPoint === undefined ? {} : { entryPoint: { id: entryPoint } }),
    customer: { name: test.customer, type: "individual" },
  },
  sender: {
    ...sender(test, session),
    ...(test.sender === "customer" ? { participant: { name: test.customer } } : {}),
  },
});

const answer = z.object({
  messages: z.object({
    message: z.tuple(
      [z.object({ id: z.string().optional(), conversation: z.object({ id: z.string().min(1) }) })],
      z.unknown(),
    ),
  }),
});

const sentOf = (body: unknown, messageId: string): SmokeMessage => {
  const parsed = answer.safeParse(body);
  if (!parsed.success) {
    throw new ConversationError(
      "BAD_RESPONSE",
      "the service accepted it, but its answer names no conversation. Check that conversation:baseUrl is the service's own.",
      {},
      "done",
    );
  }
  const [{ id, conversation }] = parsed.data.messages.message;
  const serviceId = id === undefined ? {} : { serviceId: id };
  return { conversationId: conversation.id, messageId, ...serviceId };
};

const effects = {
  none: "",
  unknown: " It is not known whether the message was sent.",
  done: " The message was sent.",
} as const;

/**
 * Starts a conversation with one text, which every sender may send (specification §6).
 *
 * @throws ConversationError that names the message as the broken link
 */
export const sendSmokeMessage = async (
  test: SmokeTestInputs,
  chain: Chain,
  session: EngineSession,
  findings: ChainFindings,
): Promise<SmokeMessage> => {
  const messageId = `smoke-test-${randomUUID()}`;
  try {
    const { body } = await send(session, firstMessage(test, chain, session, messageId));
    return sentOf(body, messageId);
  } catch (error) {
    if (!isConversationError(error)) throw error;
    const to = `a text of a ${test.sender} to ${JSON.stringify(chain.address)} on ${JSON.stringify(chain.channelType)}`;
    const what = `${to} was not taken. ${error.message}${effects[error.effect]}`;
    throw brokenLink("message", what, findings, error);
  }
};

/**
 * Ends the conversation of a test, as far as that can be done: it is no part of the test.
 *
 * @returns whether it is over
 */
export const endConversation = async (
  test: Pick<SmokeTestInputs, "sender">,
  conversationId: string,
  session: EngineSession,
): Promise<boolean> => {
  const type = { value: "conversation.end" };
  const conversation = { id: conversationId };
  try {
    await send(session, { type, conversation, sender: sender(test, session) });
    return true;
  } catch (error) {
    if (!isConversationError(error)) throw error;
    // Refused: it is over already, or gone with its account.
    return isConversationError(error, "REJECTED", "NOT_FOUND");
  }
};
