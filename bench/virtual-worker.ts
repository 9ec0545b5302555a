import { parentPort } from "node:worker_threads";
import { type CreationCase, measureCreation, settingOf } from "./creation.js";
import type { CreationFigure, RefreshFigure } from "./figures.js";
import { measureRefresh, type RefreshCase, refreshSetting } from "./refresh.js";
import { inVirtualTime } from "./session.js";

/** What the worker is asked to measure. */
export type VirtualCase =
  | { readonly creation: CreationCase; readonly refresh?: never }
  | { readonly refresh: RefreshCase; readonly creation?: never };

const measured = ({ creation, refresh }: VirtualCase): Promise<CreationFigure | RefreshFigure> =>
  creation
    ? inVirtualTime(settingOf(creation), (session) => measureCreation(session, creation))
    : inVirtualTime(refreshSetting(refresh), (session) => measureRefresh(session, refresh));

/** What the worker answers. */
export type VirtualAnswer =
  | { readonly figure: CreationFigure | RefreshFigure }
  | { readonly failed: string };

const answer = async (asked: VirtualCase): Promise<VirtualAnswer> => {
  try {
    return { figure: await measured(asked) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

// A thread of its own, because its timers and dates are virtual while it measures.
parentPort?.on("message", (asked: VirtualCase) => {
  void answer(asked).then((found) => parentPort?.postMessage(found));
});
