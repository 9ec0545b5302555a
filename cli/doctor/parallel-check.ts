import type { Plan } from "../../provider/service/settings/plans.js";
import { plan as planRule } from "../../provider/service/settings/setting-rules.js";
import { type SettingSource, settingNames } from "../../provider/service/settings/settings.js";
import { askPulumi, type Place } from "../forecast/documents.js";
import { type PulumiResource, resourcesOf } from "../forecast/pulumi-documents.js";
import { recommendedParallel } from "../forecast/recommended-parallel.js";
import { defaultParallel } from "../forecast/simulation/parallel-steps.js";
import { countKinds } from "../forecast/simulation/workload.js";
import { type CheckResult, ok } from "./check.js";

const NAME = "parallel";
const LONGEST_MS = 20_000;

const planOf = ({ environment, config }: SettingSource): Plan => {
  const names = settingNames("plan");
  const parsed = planRule((environment[names.environment] ?? config(names.config) ?? "").trim());
  return "value" in parsed ? parsed.value : "enterprise";
};

const resourcesIn = async (place: Place): Promise<readonly PulumiResource[]> => {
  try {
    const { state } = await askPulumi("refresh", { ...place, timeoutMs: LONGEST_MS });
    return state ? resourcesOf(state) : [];
  } catch {
    // No project, no stack or no Pulumi: other checks say so.
    return [];
  }
};

/** Whether Pulumi runs enough steps together for the objects of the stack: advice only. */
export const checkParallel = async (place: Place, source: SettingSource): Promise<CheckResult> => {
  const now = defaultParallel(place.env);
  const counts = countKinds(await resourcesIn(place));
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const plan = planOf(source);
  const best = recommendedParallel(plan, counts, now);
  const together = `Pulumi runs ${now} steps together`;
  if (total === 0)
    return ok(NAME, `${together}; the command forecast says whether more would be faster`);
  if (best === now) return ok(NAME, `${together}: enough for the stack's ${total} objects`);
  return ok(
    NAME,
    `${together}: with the stack's ${total} objects, steps that wait for one endpoint hold up others`,
    `Set PULUMI_PARALLEL=${best}, or run pulumi with --parallel ${best}.`,
  );
};
