import type { Plan } from "../provider/service/plans.js";
import { clients } from "./clients.js";
import {
  type BenchSession,
  body,
  failures,
  inVirtualTime,
  kind,
  rateFor,
  type Setting,
} from "./session.js";

/**
 * The other load on the bucket. `alone`: none, it is full at the start. `empty`: others have just
 * used it up. `shared`: others want half of its rate all the time.
 */
type Situation = "alone" | "empty" | "shared";

/** One client that created objects of one kind on one plan. */
export interface CreationFigure {
  readonly client: string;
  readonly plan: Plan;
  readonly situation: Situation;
  /** Calls per second of the endpoint, and how many its bucket holds. */
  readonly rate: number;
  readonly burst: number;
  readonly resources: number;
  readonly idealSeconds: number;
  readonly wallSeconds: number;
  /**
   * Wall time over the ideal; null if the burst takes them all, so the ideal is no time, or if
   * resources failed, and in the situation `shared`.
   */
  readonly overIdeal: number | null;
  readonly calls: number;
  /** Answers with status 429. */
  readonly refused: number;
  /** Resources that were not created. */
  readonly failed: number;
}

/**
 * The shortest time that a token bucket allows for `calls` calls of one endpoint, in seconds, from a
 * full bucket and without the time that the calls themselves take (specification §8.1).
 */
export const idealSeconds = (calls: number, rate: number, burst: number): number =>
  Math.max(0, calls - burst) / rate;

/** The ideal in a situation; the share that others take is unknown, so it is left out. */
export const idealIn = (situation: Situation, calls: number, rate: number, burst: number): number =>
  idealSeconds(calls, rate, situation === "empty" ? 0 : burst);

/**
 * Wall time over the ideal, such as 1.004; null if the ideal is zero or some of the work was not
 * done: giving up early is not being fast.
 */
export const overIdeal = (wallSeconds: number, ideal: number, failed: number): number | null =>
  ideal > 0 && failed === 0 ? wallSeconds / ideal : null;

/** One creation to measure. */
export type CreationCase = Pick<
  CreationFigure,
  "client" | "plan" | "burst" | "resources" | "situation"
>;

/**
 * The setting in which a case runs.
 *
 * @throws Error for a client that does not exist
 */
const creationSetting = ({ client: name, plan, burst }: CreationCase): Setting => {
  const client = clients.find((one) => one.name === name);
  if (!client) throw new Error(`There is no client ${name}.`);
  return { client, plan, burst };
};

/** Numbers of the others' objects, so that their names are free. */
const othersFirst = 1_000_000;

/** Others use up what the bucket holds. */
const drain = async ({ neighbour, during }: BenchSession, burst: number): Promise<void> => {
  for (let n = 0; n < burst; n++) await during(neighbour.create(kind, body(othersFirst + n)));
};

/** Part of the rate that the others want in the situation `shared`. */
const othersPart = 0.5;

/** How often others that are refused try again within a period. */
const tries = 20;

/** Others call at an even pace, again and again if they are refused, until they are stopped. */
const disturb = ({ neighbour, clock }: BenchSession, rate: number): (() => void) => {
  const end = new AbortController();
  const periodMs = 1000 / (rate * othersPart);
  const insist = async (number: number): Promise<void> => {
    while (!end.signal.aborted) {
      const took = await neighbour.create(kind, body(othersFirst + number)).catch(() => undefined);
      if (took) return;
      await clock.sleep(periodMs / tries, end.signal);
    }
  };
  const callOn = async (): Promise<void> => {
    const start = clock.now();
    for (let n = 1; !end.signal.aborted; n++) {
      await clock.sleep(start + n * periodMs - clock.now(), end.signal);
      await insist(n);
    }
  };
  callOn().catch(() => {});
  return () => end.abort();
};

/** Creates the objects of a case in a session and returns how it went. */
const measureCreation = async (
  session: BenchSession,
  given: CreationCase,
): Promise<CreationFigure> => {
  const { plan, burst, resources, situation } = given;
  const { service, neighbour, clock, traffic, during } = session;
  const rate = rateFor(plan);
  await during(Promise.all([service.token(), neighbour.token()]));
  if (situation === "empty") await drain(session, burst);
  const stop = situation === "shared" ? disturb(session, rate) : () => {};
  const start = clock.now();
  const failed = await during(failures(resources, (number) => service.create(kind, body(number))));
  const wallSeconds = (clock.now() - start) / 1000;
  stop();
  const ideal = idealIn(situation, resources, rate, burst);
  return {
    ...given,
    ...traffic,
    rate,
    idealSeconds: ideal,
    wallSeconds,
    overIdeal: situation === "shared" ? null : overIdeal(wallSeconds, ideal, failed),
    failed,
  };
};

/**
 * Creates the objects of a case in virtual time. Process-wide: one at a time, and nothing else that
 * needs timers beside it.
 */
export const measureInVirtualTime = (one: CreationCase): Promise<CreationFigure> =>
  inVirtualTime(creationSetting(one), (session) => measureCreation(session, one));
