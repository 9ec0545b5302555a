import { durationText } from "../../provider/kernel/text.js";
import { textTable, withCount, wrappedText } from "../terminal/columns.js";
import type { Conditions } from "./forecast.js";
import type { Forecast } from "./forecast-schema.js";

/** Formats a number of seconds, for example as `45.3 s`, `12 min 5 s`, or `2 h 3 min`. */
export const duration = (seconds: number): string =>
  seconds < 60 ? `${Number(seconds.toFixed(1))} s` : durationText(Math.round(seconds) * 1000);

const limitsText = ({ plan, burst, share, parallel }: Conditions): string => {
  const bursts = burst === undefined ? "" : `, bursts of ${burst}`;
  const part = share === 1 ? "" : `, ${share} of each rate`;
  return `Plan ${plan}${bursts}${part}, --parallel ${parallel}.`;
};

/** Which part of the quota a run takes. */
const quotaText = ({ methods, plan, monthlyQuota }: Forecast): string => {
  const calls = Object.entries(methods).map(([method, count]) => `${count} ${method}`);
  const quota = monthlyQuota.toLocaleString("en-US");
  return `Monthly quota: the ${plan} plan allows ${quota} calls with each HTTP method. This run's calls: ${calls.join(", ")}.`;
};

/** Returns the forecast as human-readable text. */
export const forecastReport = (made: Forecast, conditions: Conditions): string => {
  const { operation, totalCalls, totalSeconds, endpoints } = made;
  const calls = totalCalls === 0 ? "no calls" : withCount(totalCalls, "call");
  const lines = [
    `pulumi ${operation}: ${calls}, about ${duration(totalSeconds)}.`,
    ...wrappedText(limitsText(conditions)),
  ];
  if (totalCalls === 0) return `${lines.join("\n")}\n`;
  const rows = endpoints
    .toSorted((a, b) => b.seconds - a.seconds)
    .map((each) => [each.endpoint, `${each.calls}`, duration(each.seconds)]);
  return `${[
    ...lines,
    "All buckets are assumed to be full.",
    "If you just made calls, the run takes longer.",
    ...wrappedText(quotaText(made)),
    "",
    ...textTable(["Endpoint", "Calls", "Time"], rows),
  ].join("\n")}\n`;
};
