import { availableParallelism } from "node:os";

/** Steps for each core that Pulumi runs together where nobody says otherwise. */
const perCore = 4;

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;

/** How many steps Pulumi runs together without `--parallel`: PULUMI_PARALLEL, else 4 for each core. */
export const defaultParallel = (
  env: NodeJS.ProcessEnv,
  cores: number = availableParallelism(),
): number => wholeNumber(env.PULUMI_PARALLEL) ?? perCore * (wholeNumber(env.GOMAXPROCS) ?? cores);
