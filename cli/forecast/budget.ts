import type { Forecast } from "./forecast.js";
import { duration } from "./report.js";

/** What a run may cost. */
export interface Budget {
  readonly maxMinutes?: number;
  readonly maxCalls?: number;
}

/** By how much a run goes beyond what it may cost, a sentence for each limit; empty where it does not. */
export const overBudget = (
  { operation, totalSeconds, totalCalls }: Forecast,
  { maxMinutes, maxCalls }: Budget,
): readonly string[] => {
  const seconds = totalSeconds - (maxMinutes ?? Number.POSITIVE_INFINITY) * 60;
  const calls = totalCalls - (maxCalls ?? Number.POSITIVE_INFINITY);
  return [
    ...(seconds > 0
      ? [
          `pulumi ${operation} would take ${duration(totalSeconds)}, ${duration(seconds)} more than the ${maxMinutes} min of --max-minutes.`,
        ]
      : []),
    ...(calls > 0
      ? [
          `pulumi ${operation} would make ${totalCalls} calls, ${calls} more than the ${maxCalls} of --max-calls.`,
        ]
      : []),
  ];
};
