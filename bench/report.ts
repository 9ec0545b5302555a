import { textTable } from "../cli/terminal/columns.js";
import { clients } from "./clients.js";
import type { EngineFigure } from "./engine-floor.js";
import type { OverheadFigure } from "./overhead.js";
import type { CreationFigure } from "./pacing.js";
import type { RealTimeFigure } from "./real-time.js";

/** What was not measured, and why. */
export interface Skipped {
  readonly skipped: string;
}

/** Everything that one run measures; what `--json` prints. */
export interface Figures {
  readonly version: string;
  readonly node: string;
  readonly cores: number;
  readonly inFlight: number;
  readonly line: { readonly roundTripMs: number; readonly jitterMs: number };
  /** In virtual time. */
  readonly creation: readonly CreationFigure[];
  /** The same on one plan with a bucket that others use too. */
  readonly disturbed: readonly CreationFigure[];
  /** In real time, over loopback. */
  readonly realTime: readonly RealTimeFigure[];
  readonly engine: EngineFigure | Skipped;
  readonly overhead: OverheadFigure;
  readonly seconds: number;
}

const seconds = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} s`;

const speed = ({ wallSeconds, overIdeal }: CreationFigure): string =>
  overIdeal === null ? seconds(wallSeconds) : `${seconds(wallSeconds)} ×${overIdeal.toFixed(3)}`;

/** How one creation went, such as `294 s ×1.002, 2 refused`. */
export const outcome = (figure: CreationFigure): string => {
  const { failed, refused, resources } = figure;
  const refusals = `${refused} refused`;
  if (failed > 0) return `${failed} OF ${resources} FAILED, ${refusals}`;
  return `${speed(figure)}, ${refusals}`;
};

/** Creations as one table: a row for each client, a column for each `columnOf`. */
const creationTable = (
  title: string,
  figures: readonly CreationFigure[],
  columnOf: (figure: CreationFigure) => string,
): readonly string[] => {
  const columns = [...new Set(figures.map(columnOf))];
  const rows = [...Map.groupBy(figures, ({ client }) => client)].map(([client, own]) => [
    client,
    ...columns.map((column) => {
      const found = own.find((figure) => columnOf(figure) === column);
      return found ? outcome(found) : "";
    }),
  ]);
  return ["", ...textTable([title, ...columns], rows)];
};

const byPlan = ({ creation }: Figures): readonly string[] =>
  [...Map.groupBy(creation, ({ plan }) => plan)].flatMap(([plan, figures]) => {
    const [{ rate, burst } = { rate: 0, burst: 0 }] = figures;
    const column = ({ resources, idealSeconds }: CreationFigure) =>
      `${resources} (ideal ${seconds(idealSeconds)})`;
    return creationTable(`${plan}: ${rate}/s, burst ${burst}`, figures, column);
  });

const disturbances = ({ disturbed }: Figures): readonly string[] => {
  const [first] = disturbed;
  if (!first) return [];
  const titles: Readonly<Record<CreationFigure["situation"], string>> = {
    alone: "alone",
    empty: "bucket just used up",
    shared: "others use half of the rate",
  };
  const title = `${first.plan}: ${first.resources} resources`;
  return creationTable(title, disturbed, ({ situation, idealSeconds }) =>
    situation === "empty" ? `${titles.empty} (ideal ${seconds(idealSeconds)})` : titles[situation],
  );
};

const realTimes = ({ realTime }: Figures): readonly string[] => {
  const rows = realTime.map((one) => [
    `${one.rate}/s, burst ${one.burst}${one.processes > 1 ? `, ${one.processes} through ${one.through}` : ""}`,
    `${one.calls}`,
    `${one.idealSeconds.toFixed(2)} s`,
    `${one.wallSeconds.toFixed(2)} s`,
    `×${one.overIdeal.toFixed(3)}`,
    `${one.refused}`,
  ]);
  const title = "real time, loopback";
  const isWhole = realTime.some(({ through }) => through === "Redis");
  return [
    "",
    ...textTable([title, "calls", "ideal", "time", "over the ideal", "refused"], rows),
    ...(isWhole ? [] : ["Two machines through Redis: not measured without --redis <url>."]),
  ];
};

const engine = (figure: EngineFigure | Skipped): readonly string[] => {
  if ("skipped" in figure) return ["", `Engine: not measured. ${figure.skipped}`];
  const { pulumi, resources, commands } = figure;
  const heading = [
    `Pulumi ${pulumi}, ${resources} resources, no limits`,
    "the same calls",
    "pulumi-conversation",
    "over the calls",
  ];
  const rows = commands.map((one) => [
    one.command === "preview" ? "preview, unchanged" : one.command,
    seconds(one.sameCallsSeconds),
    seconds(one.seconds),
    `×${one.overSameCalls.toFixed(2)}`,
  ]);
  return ["", ...textTable(heading, rows)];
};

const overhead = ({ client, pool, cpuOverPool }: OverheadFigure): readonly string[] => {
  const row = (name: string, speed: OverheadFigure["client"], ratio: number) => [
    name,
    `${Math.round(speed.requestsPerSecond)}`,
    speed.cpuMicrosecondsPerRequest.toFixed(1),
    `×${ratio.toFixed(2)}`,
  ];
  return [
    "",
    ...textTable(
      ["loopback, no waiting", "requests/s", "CPU µs each", "CPU over the library"],
      [row("whole client, paced", client, cpuOverPool), row("undici Pool.request alone", pool, 1)],
    ),
  ];
};

/** All figures as lines for a terminal. */
export const report = (figures: Figures): readonly string[] => {
  const { line, inFlight } = figures;
  return [
    `Creating resources of one kind, ${inFlight} in flight, round trip ${line.roundTripMs} ± ${line.jitterMs} ms, in virtual time:`,
    "every client calls the same emulator through the same HTTP client; they differ only in when they call.",
    ...byPlan(figures),
    ...disturbances(figures),
    "",
    ...clients.map(({ name, how }) => `  ${name}: ${how}`),
    ...realTimes(figures),
    ...engine(figures.engine),
    ...overhead(figures.overhead),
    "",
    `Measured in ${figures.seconds.toFixed(0)} s on ${figures.cores} cores, Node ${figures.node}. See docs/bench.md for how to read the figures.`,
  ];
};
