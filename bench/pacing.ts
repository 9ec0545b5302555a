import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { systemClock } from "../provider/kernel/clock.js";
import { lifecycle } from "../provider/lifecycle/index.js";
import { createRun } from "../provider/lifecycle/run.js";
import { clients } from "./clients.js";
import type { CreationFigure, RefreshFigure, Situation } from "./figures.js";
import {
  type BenchSession,
  body,
  burstFor,
  failures,
  inVirtualTime,
  kind,
  rateFor,
  realSession,
  type Setting,
} from "./session.js";

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

/** One refresh to measure. */
export type RefreshCase = Pick<RefreshFigure, "way" | "plan" | "resources">;

/**
 * The setting in which a refresh runs: always with our own pacer.
 *
 * @throws Error if it is missing
 */
const refreshSetting = ({ plan }: RefreshCase): Setting => {
  const [client] = clients;
  if (!client) throw new Error("There are no clients.");
  return { client, plan, burst: burstFor(plan) };
};

type Read = (id: string, number: number) => Promise<unknown>;

const readThrough = (session: BenchSession): Readonly<Record<RefreshCase["way"], Read>> => {
  const { settings, service } = session;
  const kept = lifecycle(
    kind,
    createRun(async () => ({ settings, service })),
  );
  return {
    list: (id, number) => kept.read(id, { ...body(number), __provider: "pointer" }),
    items: (id) => service.read(kind, id),
  };
};

/** Creates objects in advance, each as soon as its token is due. */
const prepare = async (
  session: BenchSession,
  { plan, resources }: RefreshCase,
): Promise<string[]> => {
  const ids: string[] = [];
  for (let number = 0; number < resources; number++) {
    session.emulator.advance(1000 / rateFor(plan));
    const { id } = await session.during(session.neighbour.create(kind, body(number)));
    ids.push(id);
  }
  return ids;
};

/** Looks at every object and returns how long that took. */
const measureRefresh = async (
  session: BenchSession,
  given: RefreshCase,
): Promise<RefreshFigure> => {
  const { service, clock, traffic, during } = session;
  const ids = await prepare(session, given);
  await during(service.token());
  const read = readThrough(session)[given.way];
  const start = clock.now();
  const failed = await during(
    failures(ids.length, async (number) => read(ids[number] ?? "", number)),
  );
  if (failed > 0) throw new Error(`Cannot read ${failed} of ${ids.length} objects.`);
  return { ...given, ...traffic, wallSeconds: (clock.now() - start) / 1000 };
};

/** What the thread is asked to measure. */
type VirtualCase =
  | { readonly creation: CreationCase; readonly refresh?: never }
  | { readonly refresh: RefreshCase; readonly creation?: never };

type VirtualAnswer =
  | { readonly figure: CreationFigure | RefreshFigure }
  | { readonly failed: string };

/** Marks the measuring thread: any other thread that loads this file measures nothing. */
const role = "measures in virtual time";

/** Starts the thread in which time is virtual, and measures there one case after the other. */
export const virtualRuns = () => {
  const worker = new Worker(__filename, { workerData: role });
  const ask = async <T extends CreationFigure | RefreshFigure>(
    asked: VirtualCase,
    isWanted: (figure: CreationFigure | RefreshFigure) => figure is T,
  ): Promise<T> => {
    worker.postMessage(asked);
    const [answer]: VirtualAnswer[] = await once(worker, "message");
    if (answer && "figure" in answer && isWanted(answer.figure)) return answer.figure;
    const reason = answer && "failed" in answer ? answer.failed : "it returned no figure";
    throw new Error(`Measuring ${JSON.stringify(asked)} failed: ${reason}`);
  };
  return {
    create: (creation: CreationCase): Promise<CreationFigure> =>
      ask({ creation }, (figure): figure is CreationFigure => "client" in figure),
    refresh: (refresh: RefreshCase): Promise<RefreshFigure> =>
      ask({ refresh }, (figure): figure is RefreshFigure => "way" in figure),
    [Symbol.asyncDispose]: async (): Promise<void> => void (await worker.terminate()),
  };
};

const virtually = ({ creation, refresh }: VirtualCase): Promise<CreationFigure | RefreshFigure> =>
  creation
    ? inVirtualTime(creationSetting(creation), (session) => measureCreation(session, creation))
    : inVirtualTime(refreshSetting(refresh), (session) => measureRefresh(session, refresh));

const answerTo = async (asked: VirtualCase): Promise<VirtualAnswer> => {
  try {
    return { figure: await virtually(asked) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

// A separate thread, because its timers and dates are virtual while it measures.
if (workerData === role)
  parentPort?.on("message", async (asked: VirtualCase) =>
    parentPort?.postMessage(await answerTo(asked)),
  );

/** The cases in real time, all at once, each with its own emulator. */
export const inRealTime = (cases: readonly CreationCase[]): Promise<CreationFigure[]> =>
  Promise.all(
    cases.map(async (given) => {
      await using session = await realSession(creationSetting(given), systemClock);
      // Awaited here, before the session is closed.
      return await measureCreation(session, given);
    }),
  );
