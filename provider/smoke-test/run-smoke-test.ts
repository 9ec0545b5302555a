import { randomUUID } from "node:crypto";
import { z } from "zod";
import { toWire } from "../definition/wire.js";
import type { EngineSession } from "../engine/engine-session.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { runtimeOperations } from "../service/http/operations.js";
import { httpTransport, type Transport } from "../service/http/transport.js";
import { awaitSighting, type Sighting, shownAddress, unreachable } from "./probe.js";
import { smokeTest } from "./smoke-test-definition.js";
import type { SmokeTestInputs, SmokeTestResult } from "./smoke-test-inputs.js";
import {
  brokenLink,
  type Callback,
  type Chain,
  type ChainFindings,
  ChainReader,
  noChainFindings,
  walkChain,
} from "./walk-chain.js";

/** Longest time of one call to a probe or a callback address. */
const callTimeoutMs = 5_000;

const waysIn = (callbacks: readonly Callback[]): string =>
  callbacks
    .map(({ url, role, authentication }) => {
      const how = authentication ? `signing in by ${authentication}` : "without signing in";
      return `${shownAddress(url)} (${role}, ${how})`;
    })
    .join(" or ");

/** A test whose message was accepted. */
interface Sent {
  readonly test: SmokeTestInputs;
  readonly chain: Chain;
  readonly message: SmokeMessage;
  readonly findings: ChainFindings;
  readonly session: EngineSession;
}

/** The message did not arrive: the last link that can be looked at from here. */
const lost = async ({ test, chain, findings, session }: Sent, transport: Transport) => {
  const { callbacks } = chain;
  for (const { url, role } of callbacks) {
    const why = await unreachable(url, transport, session.signal);
    if (why === undefined) continue;
    const what = `the service accepted the message, but it did not arrive within ${test.timeout} s, and seen from this machine nobody answers at ${shownAddress(url)}, the callback of ${role}: ${why}. Start the server there or correct the callback.`;
    return brokenLink("callback address", what, findings);
  }
  const to = callbacks.length > 0 ? ` to ${waysIn(callbacks)}` : "";
  const what = `the service accepted the message${to}, but the probe did not show it within ${test.timeout} s. Look at the log of that server: it must accept the credentials (401 otherwise) and answer within 5 s, and the probe must report what it takes. A slow service needs a longer timeout.`;
  return brokenLink("delivery", what, findings);
};

const assertSeen = async (
  sighting: Sighting,
  sent: Sent,
  probeUrl: string,
  transport: Transport,
): Promise<void> => {
  if (sighting.state === "seen") return;
  if (sighting.state === "not yet") throw await lost(sent, transport);
  const what = `the service accepted the message, but the probe at ${shownAddress(probeUrl)} cannot tell whether it arrived: ${sighting.why}. It must answer 200 with JSON that holds the id of the conversation once it arrived.`;
  throw brokenLink("probe", what, sent.findings);
};

const awaitArrival = async (sent: Sent): Promise<boolean> => {
  const { test, message, session } = sent;
  if (!test.probe) return false;
  const transport = httpTransport({ callTimeoutMs });
  const { conversationId, messageId, serviceId } = message;
  const ids = [conversationId, messageId, ...(serviceId ? [serviceId] : [])];
  try {
    const timeoutMs = test.timeout * 1_000;
    const sighting = await awaitSighting(test.probe, timeoutMs, ids, session, transport);
    await assertSeen(sighting, sent, test.probe.url, transport);
    return true;
  } finally {
    await transport.close();
  }
};

/**
 * Reads the chain of an account, sends one message over it, waits for its arrival where a probe is
 * given, and ends the conversation, also after a failure.
 *
 * @throws ConversationError that names the broken link
 */
export const runSmokeTest = async (
  test: SmokeTestInputs,
  session: EngineSession,
): Promise<SmokeTestResult> => {
  const findings = noChainFindings();
  const chain = await walkChain(test, new ChainReader(session, findings));
  const message = await sendSmokeMessage(test, chain, session, findings);
  const { conversationId, messageId } = message;
  const sentAt = new Date(session.clock.wall()).toISOString();
  findings.sound.push(`message ${messageId} (202, conversation ${conversationId})`);
  const end = () => endConversation(test, conversationId, session);
  try {
    const arrived = await awaitArrival({ test, chain, message, findings, session });
    const open = (await end()) ? {} : ({ open: true } as const);
    return { conversationId, messageId, sentAt, arrived, ...open };
  } catch (error) {
    await end();
    throw error;
  }
};

/** The message that was accepted; its ids, any of which a probe may report. */
interface SmokeMessage {
  readonly conversationId: string;
  /** The test's own id of the message. */
  readonly messageId: string;
  /** The service's id of the message, if its answer holds one. */
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
const sendSmokeMessage = async (
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
