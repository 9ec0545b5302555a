import { httpTransport, type Transport } from "../service/transport.js";
import { brokenLink, type Findings, noFindings } from "./broken-link.js";
import { ChainReader } from "./chain-reader.js";
import { awaitSighting, type Sighting, shownAddress, unreachable } from "./probe.js";
import { endConversation, type SentMessage, sendSmokeMessage } from "./smoke-message.js";
import type { SmokeTestInputs } from "./smoke-test-inputs.js";
import type { SmokeTestSession } from "./smoke-test-session.js";
import { type Callback, type Chain, walkChain } from "./walk-chain.js";

/** What the state keeps of a test that passed. */
export interface SmokeTestResult {
  readonly conversationId: string;
  readonly messageId: string;
  /** When the service accepted the message: ISO 8601, GMT. */
  readonly sentAt: string;
  /** True: seen at the probe. False: accepted by the service; nobody looked further. */
  readonly arrived: boolean;
  /** The conversation could not be ended after the test. */
  readonly open?: true;
}

/** Longest time of one call to a probe or a callback address. */
const callTimeoutMs = 5_000;

const waysIn = (callbacks: readonly Callback[]): string =>
  callbacks
    .map(({ url, role, authentication }) => {
      const how = authentication ? `signing in by ${authentication}` : "without signing in";
      return `${shownAddress(url)} (${role}, ${how})`;
    })
    .join(" or ");

/** The message was accepted and did not arrive: the last link that can be looked at from here. */
const lost = async (
  test: SmokeTestInputs,
  { callbacks }: Chain,
  findings: Findings,
  { signal }: SmokeTestSession,
  transport: Transport,
): Promise<Error> => {
  for (const { url, role } of callbacks) {
    const why = await unreachable(url, transport, signal);
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
  test: SmokeTestInputs,
  chain: Chain,
  findings: Findings,
  session: SmokeTestSession,
  transport: Transport,
): Promise<void> => {
  if (sighting.state === "seen") return;
  if (sighting.state === "not yet") throw await lost(test, chain, findings, session, transport);
  const at = test.probe ? ` at ${shownAddress(test.probe.url)}` : "";
  const what = `the service accepted the message, but the probe${at} cannot tell whether it arrived: ${sighting.why}. It must answer 200 with JSON that holds the id of the conversation once it arrived.`;
  throw brokenLink("probe", what, findings);
};

const awaitArrival = async (
  test: SmokeTestInputs,
  chain: Chain,
  sent: SentMessage,
  findings: Findings,
  session: SmokeTestSession,
): Promise<boolean> => {
  if (!test.probe) return false;
  const transport = httpTransport({ callTimeoutMs });
  const ids = [sent.conversationId, sent.messageId, ...(sent.serviceId ? [sent.serviceId] : [])];
  try {
    const timeoutMs = test.timeout * 1_000;
    const sighting = await awaitSighting(test.probe, timeoutMs, ids, session, transport);
    await assertSeen(sighting, test, chain, findings, session, transport);
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
  session: SmokeTestSession,
): Promise<SmokeTestResult> => {
  const findings = noFindings();
  const chain = await walkChain(test, new ChainReader(session, findings));
  const sent = await sendSmokeMessage(test, chain, session, findings);
  const sentAt = new Date(session.clock.wall()).toISOString();
  findings.sound.push(`message ${sent.messageId} (202, conversation ${sent.conversationId})`);
  const end = () => endConversation(test, sent.conversationId, session);
  try {
    const arrived = await awaitArrival(test, chain, sent, findings, session);
    const { conversationId, messageId } = sent;
    const open = (await end()) ? {} : ({ open: true } as const);
    return { conversationId, messageId, sentAt, arrived, ...open };
  } catch (error) {
    await end();
    throw error;
  }
};
