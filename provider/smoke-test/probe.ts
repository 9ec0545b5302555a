import type { EngineSession } from "../engine/engine-session.js";
import { ConversationError } from "../kernel/errors.js";
import { isObject, parseJson } from "../kernel/json.js";
import {
  connectionFault,
  type HttpResponse,
  type Transport,
  TransportFailure,
} from "../service/http/transport.js";
import type { SmokeTestInputs } from "./smoke-test-inputs.js";

/** How one look at a probe, or a whole wait for it, ended. */
export type Sighting =
  | { readonly state: "seen" }
  | { readonly state: "not yet" }
  /** The probe itself is out of order. */
  | { readonly state: "failed"; readonly why: string; readonly isFinal: boolean };

type Probe = NonNullable<SmokeTestInputs["probe"]>;

/** An address as messages show it: what comes after the path may be confidential. */
export const shownAddress = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
};

/** Whether one of some texts stands anywhere in a JSON value, as a value or as a key. */
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
  if (status !== 200) return failed(`it answers with the status ${status}`);
  if (response.broken) return failed("its answer broke off");
  try {
    return { state: holdsAny(parseJson(text), ids) ? "seen" : "not yet" };
  } catch {
    return failed("its answer is not JSON");
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
    "The test was given up while it waited for the message to arrive.",
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
 * Asks a probe again and again until it has seen one of the ids, or the time is over.
 *
 * @returns the last look
 * @throws ConversationError `CANCELLED` where the run is cancelled
 */
export const awaitSighting = async (
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
    say(`waiting for the message to arrive at the probe, at most ${Math.ceil(leftMs / 1000)} s`);
    await pause(session, Math.min(pauseMs, leftMs));
  }
};

/** Why no server can be reached at an address from here; undefined where one answers, whatever it says. */
export const unreachable = async (
  url: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const answer = await answerOf(transport, url, {}, signal);
  return typeof answer === "string" ? answer : undefined;
};
