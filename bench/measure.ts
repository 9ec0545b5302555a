import { availableParallelism } from "node:os";
import { CommandFailure, messageOf } from "../cli/command.js";
import type { Progress } from "../cli/terminal/progress.js";
import { packageVersion } from "../provider/kernel/package-version.js";
import { plans } from "../provider/service/settings/plans.js";
import { measureEngine } from "./engine/engine-floor.js";
import type { EngineFigure, Figures, Skipped } from "./figures.js";
import { measureOverhead } from "./http/overhead.js";
import { clients } from "./pacing/clients.js";
import type { CreationCase } from "./pacing/creation.js";
import { measurePacerAlone } from "./pacing/pacer-alone.js";
import type { RefreshCase } from "./pacing/refresh.js";
import { inRealTime, virtualRuns } from "./pacing/runs.js";
import { burstFor, inFlight, network } from "./pacing/session.js";

const counts = [10, 50, 200] as const;

/** The number of resources that the chart and the disturbed buckets are about. */
export const usualCount = 50;

/** Small enough for real time: an ideal of 12 seconds, and no client takes much longer. */
const crossChecked = { plan: "enterprise", burst: 4, resources: 16, situation: "alone" } as const;

const forEveryClient = (given: Omit<CreationCase, "client">): readonly CreationCase[] =>
  clients.map(({ name }) => ({ ...given, client: name }));

const aloneCases = (): readonly CreationCase[] =>
  plans.flatMap((plan) =>
    counts.flatMap((resources) =>
      forEveryClient({ plan, burst: burstFor(plan), resources, situation: "alone" }),
    ),
  );

const disturbedCases = (): readonly CreationCase[] =>
  (["empty", "shared"] as const).flatMap((situation) =>
    forEveryClient({
      plan: "enterprise",
      burst: burstFor("enterprise"),
      resources: usualCount,
      situation,
    }),
  );

const refreshCases = (): readonly RefreshCase[] =>
  plans.flatMap((plan) =>
    (["list", "items"] as const).map((way) => ({ way, plan, resources: Math.max(...counts) })),
  );

const ended = (): CommandFailure =>
  new CommandFailure("The benchmark was interrupted; nothing was kept.", 130);

const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = (): void => reject(ended());
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });

/** What a run is to do. */
export interface MeasureOptions {
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Leaves `pulumi up` out. */
  readonly withoutEngine: boolean;
}

/** Does one part of the work with its own line of progress. */
const part = async <T>(
  { progress, signal }: MeasureOptions,
  doing: string,
  work: () => Promise<T>,
): Promise<T> => {
  const step = progress.step(doing);
  try {
    const result = await unlessAborted(work(), signal);
    step.done();
    return result;
  } catch (error) {
    step.failed();
    throw error;
  }
};

const inTurn = async <C, F>(cases: readonly C[], measure: (one: C) => Promise<F>): Promise<F[]> => {
  const figures: F[] = [];
  for (const one of cases) figures.push(await measure(one));
  return figures;
};

const virtually = async (options: MeasureOptions) => {
  await using runs = virtualRuns();
  const created = (cases: readonly CreationCase[]) => inTurn(cases, (one) => runs.create(one));
  const creation = await part(options, "Creating resources on every plan, in virtual time", () =>
    created(aloneCases()),
  );
  const disturbed = await part(options, "The same with a bucket that others use", () =>
    created(disturbedCases()),
  );
  const refresh = await part(options, "Refreshing by item and by list, in virtual time", () =>
    inTurn(refreshCases(), (one) => runs.refresh(one)),
  );
  return { creation, disturbed, refresh, virtual: await created(forEveryClient(crossChecked)) };
};

const engineOrReason = async (options: MeasureOptions): Promise<EngineFigure | Skipped> => {
  if (options.withoutEngine) return { skipped: "It was left out with --no-engine." };
  const { progress, signal } = options;
  try {
    return await part(options, "pulumi up without limits", () => measureEngine(progress, signal));
  } catch (error) {
    if (signal.aborted) throw ended();
    return { skipped: messageOf(error) };
  }
};

/** Measures everything, one part after the other, so that none disturbs another. */
export const measure = async (options: MeasureOptions): Promise<Figures> => {
  const start = performance.now();
  const { creation, disturbed, refresh, virtual } = await virtually(options);
  const real = await part(options, "Cross-check in real time", () =>
    inRealTime(forEveryClient(crossChecked)),
  );
  const pacer = await part(options, "The pacer alone, in real time", measurePacerAlone);
  const overhead = await part(options, "Client against its HTTP library", measureOverhead);
  const engine = await engineOrReason(options);
  return {
    version: packageVersion(),
    node: process.versions.node,
    cores: availableParallelism(),
    inFlight,
    line: network,
    creation,
    disturbed,
    refresh,
    crossCheck: { real, virtual },
    pacer,
    engine,
    overhead,
    seconds: (performance.now() - start) / 1000,
  };
};
