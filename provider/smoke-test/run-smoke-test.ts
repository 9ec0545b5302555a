import { randomUUID } from "node:crypto";
import { z } from "zod";
import { toWire } from "../definition/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject, parseJson } from "../kernel/json.js";
import type { EngineSession } from "../lifecycle/run.js";
import { runtimeOperations } from "../service/http/operations.js";
import {
  connectionFault,
  type HttpResponse,
  httpTransport,
  type Transport,
  TransportFailure,
} from "../service/http/transport.js";
import { settingLabel } from "../service/settings.js";
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

/** Maximum time for one call to a probe or a callback URL. */
const callTimeoutMs = 5_000;

const waysIn = (callbacks: readonly Callback[]): string =>
  callbacks
    .map(({ url, role, authentication }) => {
      const how = authentication ? `authenticated by ${authentication}` : "without authentication";
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

/** The message did not arrive: checks the last link that is visible from here. */
const lost = async ({ test, chain, findings, session }: Sent, transport: Transport) => {
  const { callbacks } = chain;
  for (const { url, role } of callbacks) {
    const why = await unreachable(url, transport, session.signal);
    if (why === undefined) continue;
    const what = `the service accepted the message, but it did not arrive within ${test.timeout} s, and this machine cannot reach a server at ${shownAddress(url)}, the callback of ${role}: ${why}. Start the server there, or correct the callback.`;
    return brokenLink("callback URL", what, findings);
  }
  const to = callbacks.length > 0 ? ` to ${waysIn(callbacks)}` : "";
  const what = `the service accepted the message${to}, but the probe did not report it within ${test.timeout} s. Check the callback server's log: the server must accept the credentials (401 otherwise) and respond within 5 s, and the probe must report the messages that the server accepts. For a slow service, increase timeout.`;
  return brokenLink("delivery", what, findings);
};

/** Waits for the message at the probe. @returns false if there is no probe */
const awaitArrival = async (sent: Sent): Promise<boolean> => {
  const { test, message, session, findings } = sent;
  if (!test.probe) return false;
  const transport = httpTransport({ callTimeoutMs });
  const { conversationId, messageId, serviceId } = message;
  const ids = [conversationId, messageId, ...(serviceId ? [serviceId] : [])];
  try {
    const timeoutMs = test.timeout * 1_000;
    const sighting = await awaitSighting(test.probe, timeoutMs, ids, session, transport);
    if (sighting.state === "seen") return true;
    if (sighting.state === "not yet") throw await lost(sent, transport);
    const what = `the service accepted the message, but the probe at ${shownAddress(test.probe.url)} cannot show whether it arrived: ${sighting.why}. The probe must respond with 200 and JSON that contains the conversation's ID once the message has arrived.`;
    throw brokenLink("probe", what, findings);
  } finally {
    await transport.close();
  }
};

/**
 * Reads an account's chain, sends one message through it and, if the test has a probe, waits for
 * the message to arrive. Then ends the conversation, even if the message did not arrive.
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

/** The message that was accepted; its IDs, any of which a probe may report. */
interface SmokeMessage {
  readonly conversationId: string;
  /** The test's own ID of the message. */
  readonly messageId: string;
  /** The service's ID of the message, if its answer holds one. */
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

const sentOf = (
  body: unknown,
  messageId: string,
  { settings }: Pick<EngineSession, "settings">,
): SmokeMessage => {
  const parsed = answer.safeParse(body);
  if (!parsed.success) {
    throw new ConversationError(
      "BAD_RESPONSE",
      `The service accepted the message, but the response contains no conversation ID. Check that ${settingLabel("baseUrl", settings.profile)} belongs to the service.`,
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
  unknown: " It is unknown whether the message was sent.",
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
    return sentOf(body, messageId, session);
  } catch (error) {
    if (!isConversationError(error)) throw error;
    const to = `a text message from a ${test.sender} to ${JSON.stringify(chain.address)} on ${JSON.stringify(chain.channelType)}`;
    const what = `sending ${to} failed. ${error.message}${effects[error.effect]}`;
    throw brokenLink("message", what, findings, error);
  }
};

/**
 * Ends a test's conversation if possible, ignoring failures.
 *
 * @returns whether the conversation has ended
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
    // Refused: it is already over, or was deleted with its account.
    return isConversationError(error, "REJECTED", "NOT_FOUND");
  }
};

/** The result of one query to a probe, or of a whole wait for it. */
type Sighting =
  | { readonly state: "seen" }
  | { readonly state: "not yet" }
  /** The probe itself does not work. */
  | { readonly state: "failed"; readonly why: string; readonly isFinal: boolean };

type Probe = NonNullable<SmokeTestInputs["probe"]>;

/** An address as messages show it: the part after the path may be confidential. */
const shownAddress = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

/** Whether one of the given texts occurs anywhere in a JSON value, as a value or as a key. */
const holdsAny = (value: unknown, texts: readonly string[]): boolean => {
  if (typeof value === "string") return texts.includes(value);
  if (Array.isArray(value)) return value.some((item) => holdsAny(item, texts));
  return (
    isObject(value) &&
    Object.entries(value).some(([key, of]) => texts.includes(key) || holdsAny(of, texts))
  );
};

const failed = (why: string, isFinal = false): Sighting => ({ state: "failed", why, isFinal });

const sightingIn = (response: HttpResponse, ids: readonly string[]): Sighting => {
  const { status, text } = response;
  if (status === 401 || status === 403) {
    return failed(`it refuses the call (${status}); check probe.authorization`, true);
  }
  if (status === 404 || status === 204) return { state: "not yet" };
  if (status !== 200) return failed(`it responds with status ${status}`);
  if (response.broken) return failed("its response is incomplete");
  try {
    return { state: holdsAny(parseJson(text), ids) ? "seen" : "not yet" };
  } catch {
    return failed("its response is not JSON");
  }
};

/** The answer to a GET, or why there is none. */
const answerOf = async (
  transport: Transport,
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<HttpResponse | string> => {
  try {
    return await transport.send({ method: "GET", url, headers, signal });
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    return connectionFault(error, url).text;
  }
};

const look = async (
  { url, authorization }: Probe,
  ids: readonly string[],
  transport: Transport,
  signal: AbortSignal,
): Promise<Sighting> => {
  const headers = { accept: "application/json", ...(authorization ? { authorization } : {}) };
  const answer = await answerOf(transport, url, headers, signal);
  return typeof answer === "string" ? failed(answer) : sightingIn(answer, ids);
};

const pausesMs = { first: 250, longest: 2_000 } as const;

const givenUp = (): ConversationError =>
  new ConversationError(
    "CANCELLED",
    "The test was canceled while it waited for the message to arrive.",
  );

const pause = async ({ clock, signal }: EngineSession, ms: number): Promise<void> => {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (signal.aborted) throw givenUp();
    throw error;
  }
};

/**
 * Queries a probe repeatedly until it has seen one of the IDs, or the time is over.
 *
 * @returns the last result
 * @throws ConversationError `CANCELLED` if the run is canceled
 */
const awaitSighting = async (
  probe: Probe,
  timeoutMs: number,
  ids: readonly string[],
  session: EngineSession,
  transport: Transport,
): Promise<Sighting> => {
  const { clock, signal, say } = session;
  const begun = clock.now();
  for (let pauseMs: number = pausesMs.first; ; pauseMs = Math.min(2 * pauseMs, pausesMs.longest)) {
    const sighting = await look(probe, ids, transport, signal);
    if (signal.aborted) throw givenUp();
    if (sighting.state === "seen" || (sighting.state === "failed" && sighting.isFinal))
      return sighting;
    const leftMs = begun + timeoutMs - clock.now();
    if (leftMs <= 0) return sighting;
    say(`waiting for the message to arrive at the probe, for up to ${Math.ceil(leftMs / 1000)} s`);
    await pause(session, Math.min(pauseMs, leftMs));
  }
};

/**
 * Why the server at a URL cannot be reached from this machine; undefined if it responds with any
 * status.
 */
export const unreachable = async (
  url: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const answer = await answerOf(transport, url, {}, signal);
  return typeof answer === "string" ? answer : undefined;
};
