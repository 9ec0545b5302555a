import { table } from "../terminal/table.js";
import type { PathPart } from "./critical-path.js";
import type { Forecast } from "./forecast.js";
import type { Conditions } from "./simulation/conditions.js";

/** `45.3 s`, `12 min 5 s`, `2 h 3 min`. */
export const duration = (seconds: number): string => {
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

const shownResources = 3;

const resourcesText = (resources: readonly string[]): string => {
  const [first = "", ...rest] = resources;
  if (resources.length <= shownResources) return resources.join(", ");
  return `${first} … ${rest.at(-1)} (${resources.length})`;
};

const pathLine = ({
  endpoint,
  calls,
  resources,
  fromSeconds,
  toSeconds,
  waitsForRate,
}: PathPart) => [
  `${duration(fromSeconds)} – ${duration(toSeconds)}`,
  calls === 1 ? endpoint : `${endpoint} × ${calls}`,
  waitsForRate ? "waits for its rate" : "",
  resourcesText(resources),
];

const endpointLines = ({ endpoints }: Forecast): readonly string[] =>
  table(
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
  table(
    ["Plan", "Time", "Against this plan"],
    Object.entries(plans).map(([name, { totalSeconds, savesSeconds }]) => [
      name,
      duration(totalSeconds),
      name === plan ? "this plan" : saving(savesSeconds),
    ]),
  );

const headline = ({ operation, totalSeconds, totalCalls }: Forecast): string =>
  totalCalls === 0
    ? `pulumi ${operation}: no calls, about ${duration(totalSeconds)}.`
    : `pulumi ${operation}: ${counted(totalCalls, "call")}, about ${duration(totalSeconds)}.`;

const limitsLine = ({ plan, parallel }: Forecast, { burst, share }: Conditions): string => {
  const spike =
    burst === undefined ? "bursts of about 20 s of each rate (assumed)" : `bursts of ${burst}`;
  const part = share === 1 ? "" : `, ${share} of each rate`;
  return `Plan ${plan}, ${spike}${part}, --parallel ${parallel}.`;
};

/** What a person reads besides the numbers. */
export interface ReportNotes {
  readonly comparePlans: boolean;
  /** The number of parallel steps that would be faster, with what it takes then. */
  readonly faster?: { readonly parallel: number; readonly totalSeconds: number };
}

/** The forecast as a person reads it. */
export const forecastReport = (
  forecast: Forecast,
  conditions: Conditions,
  { comparePlans, faster }: ReportNotes,
): string => {
  const { totalCalls, criticalPath } = forecast;
  const path = table(["When", "Critical path", "", "Resources"], criticalPath.map(pathLine));
  const sections = [
    [headline(forecast), limitsLine(forecast, conditions)],
    ...(totalCalls > 0 ? [endpointLines(forecast), path] : []),
    ...(comparePlans ? [planLines(forecast)] : []),
    ...(faster
      ? [
          [
            `With --parallel ${faster.parallel}: about ${duration(faster.totalSeconds)}. Steps that wait for a rate hold the others up.`,
          ],
        ]
      : []),
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
};
