import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { CommandFailure, messageOf } from "../cli/command.js";
import { interruption, unlessAborted } from "../cli/interruption.js";
import { type Progress, progressOn } from "../cli/terminal/progress.js";
import { packageVersion } from "../provider/kernel/package.js";
import { plans } from "../provider/service/plans.js";
import { clients } from "./clients.js";
import { type EngineFigure, measureEngine } from "./engine-floor.js";
import { measureOverhead } from "./overhead.js";
import { type CreationCase, type CreationFigure, measureInVirtualTime } from "./pacing.js";
import { measureRealTime } from "./real-time.js";
import { type Figures, report, type Skipped } from "./report.js";
import { burstFor, inFlight, network } from "./session.js";

const counts = [10, 50, 200] as const;

/** The number of resources that the disturbed buckets are about. */
const usualCount = 50;

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

const ended = (): CommandFailure =>
  new CommandFailure("The benchmark was interrupted. No figures were saved.", 130);

/** Options of a run. */
interface MeasureOptions {
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Leaves `pulumi up` out. */
  readonly withoutEngine: boolean;
  /** Where two machines share a bucket. */
  readonly redisUrl: string | undefined;
}

/** Does one part of the work with its own line of progress. */
const part = async <T>(
  { progress, signal }: MeasureOptions,
  doing: string,
  work: () => Promise<T>,
): Promise<T> => {
  const step = progress.step(doing);
  try {
    const result = await unlessAborted(signal, work(), ended);
    step.done();
    return result;
  } catch (error) {
    step.failed();
    throw error;
  }
};

const virtually = async (cases: readonly CreationCase[]): Promise<CreationFigure[]> => {
  const figures: CreationFigure[] = [];
  for (const one of cases) figures.push(await measureInVirtualTime(one));
  return figures;
};

const engineOrReason = async (options: MeasureOptions): Promise<EngineFigure | Skipped> => {
  if (options.withoutEngine) return { skipped: "Skipped with --no-engine." };
  const { progress, signal } = options;
  try {
    return await part(options, "pulumi up without limits", () => measureEngine(progress, signal));
  } catch (error) {
    if (signal.aborted) throw ended();
    return { skipped: messageOf(error) };
  }
};

/** Measures everything, one part after the other, so that none disturbs another. */
const measure = async (options: MeasureOptions): Promise<Figures> => {
  const start = performance.now();
  const creation = await part(options, "Creating resources on every plan, in virtual time", () =>
    virtually(aloneCases()),
  );
  const disturbed = await part(options, "The same with a bucket that others use", () =>
    virtually(disturbedCases()),
  );
  const realTime = await part(options, "The pacer in real time", () =>
    measureRealTime(options.redisUrl),
  );
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
    realTime,
    engine,
    overhead,
    seconds: (performance.now() - start) / 1000,
  };
};

const usage = `npm run bench                  measure and print tables
npm run bench -- --json        print one JSON object instead
npm run bench -- --no-engine   skip pulumi up
npm run bench -- --redis <url> also measure two machines that share a Redis`;

const options = {
  json: { type: "boolean", default: false },
  "no-engine": { type: "boolean", default: false },
  redis: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new CommandFailure(`${messageOf(error)} The options:\n\n${usage}`, 2);
  }
};

const main = async (args: readonly string[]): Promise<void> => {
  const wanted = parsed(args);
  if (wanted.help) return console.log(usage);
  const { signal, release } = interruption();
  const progress = progressOn(process.stderr);
  try {
    const figures = await measure({
      progress,
      signal,
      withoutEngine: wanted["no-engine"],
      redisUrl: wanted.redis,
    });
    const lines = wanted.json ? [JSON.stringify(figures, null, 2)] : ["", ...report(figures)];
    await new Promise((written) => process.stdout.write(`${lines.join("\n")}\n`, written));
  } finally {
    release();
  }
};

if (require.main === module) {
  main(process.argv.slice(2)).then(
    // Idle connections and the thread of virtual time need not be waited for.
    () => process.exit(0),
    (error: unknown) => {
      console.error(`\n✗ ${messageOf(error)}`);
      process.exit(error instanceof CommandFailure ? error.exitCode : 1);
    },
  );
}
