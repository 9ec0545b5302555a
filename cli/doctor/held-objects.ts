import type { Settings } from "../../provider/service/setting-table.js";
import { messageOf } from "../command.js";
import { elsewhereAdvice, type HeldResource, stateStanding } from "../stack/objects-elsewhere.js";
import { type DoctorCheck, fail, ok, skipped } from "./check.js";

const name = "stack-objects";

/** Whether the stack's objects are at the service that the settings name: an unchanged `pulumi up` would not notice. */
export const checkHeldObjects = async (
  held: readonly HeldResource[],
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<DoctorCheck> => {
  try {
    const { asked, problem } = await stateStanding(held, settings, { env });
    if (problem !== undefined) return fail(name, problem, elsewhereAdvice);
    return ok(name, asked === 0 ? "the stack holds none yet" : "at this service");
  } catch (error) {
    return skipped(name, `could not be looked at: ${messageOf(error)}`);
  }
};
