import { durationText } from "../../provider/kernel/text.js";
import { textTable, wrappedText } from "../terminal/columns.js";
import type { Conditions, ParallelChoice } from "./forecast.js";
import type { Forecast, PathPart } from "./forecast-schema.js";

/** Formats a number of seconds, for example as `45.3 s`, `12 min 5 s`, or `2 h 3 min`. */
export const duration = (seconds: number): string =>
  seconds < 60 ? `${Number(seconds.toFixed(1))} s` : durationText(Math.round(seconds) * 1000);

const shownResources = 3;

const resourcesText = (resources: readonly string[]): string => {
  const [first = "", ...rest] = resources;
  if (resources.length <= shownResources) return resources.join(", ");
  return `${first} … ${rest.at(-1)} (${resources.length})`;
};

const pathLine = (part: PathPart): readonly string[] => {
  const calls = part.calls === 1 ? part.endpoint : `${part.endpoint} × ${part.calls}`;
  return [
    `${duration(part.fromSeconds)} – ${duration(part.toSeconds)}`,
    [
      part.waitsForRate ? `${calls}, slowed down by its rate limit` : calls,
      resourcesText(part.resources),
    ].join("\n"),
  ];
};

/** What passes before the first call, so that the path explains the whole time. */
const startLines = ([first]: readonly PathPart[]): readonly (readonly string[])[] =>
  first === undefined || first.fromSeconds === 0
    ? []
    : [[`0 s – ${duration(first.fromSeconds)}`, "startup of Pulumi and, if it runs, the program"]];

const endpointLines = ({ endpoints }: Forecast): readonly string[] =>
  textTable(
    ["Endpoint", "Calls", "Time"],
    [...endpoints]
      .sort((a, b) => b.seconds - a.seconds)
      .map(({ endpoint, calls, seconds }) => [endpoint, `${calls}`, duration(seconds)]),
  );

const saving = (seconds: number): string => {
  if (Math.abs(seconds) < 0.1) return "the same";
  return seconds > 0 ? `${duration(seconds)} less` : `${duration(-seconds)} more`;
};

const planLines = ({ plan, plans }: Forecast): readonly string[] =>
  textTable(
    ["Plan", "Time", "Compared with this plan"],
    Object.entries(plans).map(([name, { totalSeconds, savesSeconds }]) => [
      name,
      duration(totalSeconds),
      name === plan ? "this plan" : saving(savesSeconds),
    ]),
  );

const headline = ({ operation, totalSeconds, totalCalls }: Forecast): string => {
  const calls = totalCalls === 0 ? "no calls" : totalCalls === 1 ? "1 call" : `${totalCalls} calls`;
  return `pulumi ${operation}: ${calls}, about ${duration(totalSeconds)}.`;
};

const limitsText = (
  { plan, parallel }: Forecast,
  { burst, share, isPlanAssumed }: Conditions,
): string => {
  const bursts = burst === undefined ? "" : `, bursts of ${burst}`;
  const part = share === 1 ? "" : `, ${share} of each rate`;
  return `Plan ${plan}${isPlanAssumed ? " (assumed)" : ""}${bursts}${part}, --parallel ${parallel}.`;
};

const fullBuckets =
  "All buckets are assumed to be full.\nIf you just made calls, the run takes longer.";

/** Which part of the quota a run takes. */
const quotaText = ({ methods, plan, monthlyQuota }: Forecast): string => {
  const calls = Object.entries(methods).map(([method, count]) => `${count} ${method}`);
  const quota = monthlyQuota.toLocaleString("en-US");
  return `Monthly quota: the ${plan} plan allows ${quota} calls with each HTTP method. This run's calls: ${calls.join(", ")}.`;
};

/**
 * Returns the forecast as human-readable text.
 *
 * @param faster the number of parallel steps that would be faster, if there is one
 */
export const forecastReport = (
  forecast: Forecast,
  conditions: Conditions,
  comparePlans: boolean,
  faster: ParallelChoice | undefined,
): string => {
  const { totalCalls, criticalPath } = forecast;
  const path = textTable(
    ["When", "Critical path"],
    [...startLines(criticalPath), ...criticalPath.map(pathLine)],
    { whole: ["When"] },
  );
  const sections = [
    [
      headline(forecast),
      ...wrappedText(limitsText(forecast, conditions)),
      ...(totalCalls > 0 ? [fullBuckets, ...wrappedText(quotaText(forecast))] : []),
    ],
    ...(totalCalls > 0 ? [endpointLines(forecast), path] : []),
    ...(comparePlans ? [planLines(forecast)] : []),
    ...(faster
      ? [
          [
            `With --parallel ${faster.parallel}: about ${duration(faster.totalSeconds)}. Steps that wait for a rate limit delay the others.`,
          ],
        ]
      : []),
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
};
