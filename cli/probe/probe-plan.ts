import { rateOf } from "../../provider/pacing/plan-rates.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { assetExperiment } from "./experiments/asset-experiment.js";
import type { Experiment } from "./experiments/experiment.js";
import { listExperiments } from "./experiments/list-experiments.js";
import { objectExperiments } from "./experiments/object-experiments.js";
import { platformExperiment } from "./experiments/platform-experiment.js";
import { burstExperiment, tokenExperiment } from "./experiments/rate-experiments.js";
import { referenceExperiments } from "./experiments/reference-experiments.js";

/** What is asked of a tenant, and what is not. */
export interface ProbePlan {
  readonly experiments: readonly Experiment[];
  /** Left out, with the reason. */
  readonly leftOut: readonly { readonly experiment: Experiment; readonly why: string }[];
  /** Most calls of all. */
  readonly mostCalls: number;
}

/** What the command line says of the experiments. */
export interface PlanOptions {
  readonly maxCalls?: number;
  /** False: the rate of no endpoint is used up. */
  readonly burst?: boolean;
  /** Assets are asked for, too. */
  readonly assets?: true;
}

/** A burst is about 20 s of the rate (assumed); half as much again, so that the end is seen. */
const mostBurst = ({ plan = "enterprise" }: Pick<Settings, "plan">): number => {
  const question = { service: "Conversation", version: "v3", plan, method: "GET" } as const;
  return Math.ceil(30 * rateOf({ ...question, template: "/orchestrations/{id}" }));
};

/** Chooses in order as long as calls are left; the cheap and safe questions come first. */
export const probePlan = (settings: Settings, options: PlanOptions): ProbePlan => {
  const { maxCalls = Number.POSITIVE_INFINITY, burst = true, assets } = options;
  const all = [
    tokenExperiment,
    ...objectExperiments,
    ...listExperiments,
    ...referenceExperiments,
    platformExperiment,
    ...(burst ? [burstExperiment(mostBurst(settings))] : []),
    ...(assets ? [assetExperiment] : []),
  ];
  let mostCalls = 0;
  const experiments: Experiment[] = [];
  const leftOut: { experiment: Experiment; why: string }[] = [];
  for (const experiment of all) {
    if (mostCalls + experiment.mostCalls > maxCalls) {
      leftOut.push({ experiment, why: `--max-calls ${maxCalls} leaves no room for it` });
      continue;
    }
    experiments.push(experiment);
    mostCalls += experiment.mostCalls;
  }
  if (!burst) leftOut.push({ experiment: burstExperiment(0), why: "--no-burst was given" });
  if (!assets)
    leftOut.push({
      experiment: assetExperiment,
      why: "an asset cannot be found again if its creation is cut off: ask for it with --assets",
    });
  return { experiments, leftOut, mostCalls };
};
