import { systemClock } from "../provider/kernel/clock.js";
import { type CreationCase, measureCreation, settingOf } from "./creation.js";
import type { CreationFigure } from "./figures.js";
import { realSession } from "./session.js";

const measured = async (given: CreationCase): Promise<CreationFigure> => {
  await using session = await realSession(settingOf(given), systemClock);
  // Awaited here, before the session is closed.
  return await measureCreation(session, given);
};

/** The cases in real time, all at once, each with an emulator of its own. */
export const inRealTime = (cases: readonly CreationCase[]): Promise<CreationFigure[]> =>
  Promise.all(cases.map(measured));
