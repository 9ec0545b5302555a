import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { systemClock } from "../../provider/kernel/clock.js";
import type { CreationFigure, RefreshFigure } from "../figures.js";
import { type CreationCase, creationSetting, measureCreation } from "./creation.js";
import { measureRefresh, type RefreshCase, refreshSetting } from "./refresh.js";
import { inVirtualTime, realSession } from "./session.js";

/** What the thread is asked to measure. */
type VirtualCase =
  | { readonly creation: CreationCase; readonly refresh?: never }
  | { readonly refresh: RefreshCase; readonly creation?: never };

type VirtualAnswer =
  | { readonly figure: CreationFigure | RefreshFigure }
  | { readonly failed: string };

/** Says to a thread what it is for: whoever else loads this file measures nothing. */
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
    const reason = answer && "failed" in answer ? answer.failed : "it gave no figure";
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

// A thread of its own, because its timers and dates are virtual while it measures.
if (workerData === role)
  parentPort?.on("message", async (asked: VirtualCase) =>
    parentPort?.postMessage(await answerTo(asked)),
  );

/** The cases in real time, all at once, each with an emulator of its own. */
export const inRealTime = (cases: readonly CreationCase[]): Promise<CreationFigure[]> =>
  Promise.all(
    cases.map(async (given) => {
      await using session = await realSession(creationSetting(given), systemClock);
      // Awaited here, before the session is closed.
      return await measureCreation(session, given);
    }),
  );
