import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { CreationCase } from "./creation.js";
import type { CreationFigure, RefreshFigure } from "./figures.js";
import type { RefreshCase } from "./refresh.js";
import type { VirtualAnswer, VirtualCase } from "./virtual-worker.js";

/** Measures in virtual time, one case after the other. */
export interface VirtualRuns extends AsyncDisposable {
  create(given: CreationCase): Promise<CreationFigure>;
  refresh(given: RefreshCase): Promise<RefreshFigure>;
}

/** Starts the thread in which time is virtual. */
export const virtualRuns = (): VirtualRuns => {
  const worker = new Worker(join(__dirname, "virtual-worker.js"));
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
    create: (creation) =>
      ask({ creation }, (figure): figure is CreationFigure => "client" in figure),
    refresh: (refresh) => ask({ refresh }, (figure): figure is RefreshFigure => "way" in figure),
    [Symbol.asyncDispose]: async () => void (await worker.terminate()),
  };
};
