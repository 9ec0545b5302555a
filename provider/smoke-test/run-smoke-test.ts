import type { EngineSession } from "../engine/engine-session.js";
import { httpTransport, type Transport } from "../service/http/transport.js";
import { brokenLink, type ChainFindings, noChainFindings } from "./broken-link.js";
import { ChainReader } from "./chain-reader.js";
import { awaitSighting, type Sighting, shownAddress, unreachable } from "./probe.js";
import { endConversation, type SmokeMessage, sendSmokeMessage } from "./smoke-message.js";
import type { SmokeTestInputs, SmokeTestResult } from "./smoke-test-inputs.js";
import { type Callback, type Chain, walkChain } from "./walk-chain.js";

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
