import { textTable } from "../provider/kernel/columns.js";
import { clients, ourName } from "./clients.js";
import type { CreationFigure, EngineFigure, Figures, OverheadFigure, Skipped } from "./figures.js";

/** Bars end here; a longer one is cut and says so. */
const longestRatio = 2;
const panel = { width: 416, rowHeight: 26, labels: 156, bars: 172, top: 50 };
const edge = 24;
const headHeight = 84;
const footHeight = 44;

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign);

const text = (x: number, y: number, style: string, content: string): string =>
  `<text x="${x}" y="${y}" class="${style}">${escaped(content)}</text>`;

const style = `
  .card { fill: #ffffff; stroke: #d5dae1; }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2733; }
  .title { font-size: 19px; font-weight: 600; }
  .panel { font-size: 14px; font-weight: 600; }
  .quiet { fill: #5c6776; font-size: 12px; }
  .label { text-anchor: end; }
  .own { font-weight: 600; }
  .bad { fill: #b3261e; font-weight: 600; }
  .bar { fill: #9aa6b5; }
  .bar.own { fill: #1667c9; }
  .ideal { stroke: #1f2733; stroke-width: 1; stroke-dasharray: 3 3; }
  .axis { stroke: #d5dae1; }
  .cut { stroke: #ffffff; stroke-width: 3; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #11161d; stroke: #323b47; }
    text { fill: #e4e9ef; }
    .quiet { fill: #97a3b2; }
    .bad { fill: #ff8a80; }
    .bar { fill: #64707f; }
    .bar.own { fill: #58a6ff; }
    .ideal { stroke: #e4e9ef; }
    .axis { stroke: #323b47; }
    .cut { stroke: #11161d; }
  }
`;

const barOf = (ratio: number, x: number, y: number, own: string): string => {
  const width = (Math.min(ratio, longestRatio) / longestRatio) * panel.bars;
  const bar = `<rect x="${x}" y="${y - 12}" width="${width.toFixed(1)}" height="16" rx="2" class="bar${own}"/>`;
  if (ratio <= longestRatio) return bar;
  const at = x + width - 14;
  return `${bar}<path d="M${at} ${y + 6}l6 -20" class="cut"/>`;
};

const rowOf = (figure: CreationFigure, left: number, y: number): string => {
  const own = figure.client === ourName ? " own" : "";
  const x = left + panel.labels;
  const name = text(x - 10, y, `label${own}`, figure.client);
  if (figure.overIdeal === null) {
    return name + text(x + 4, y, "bad", `✕ ${figure.failed} of ${figure.resources} failed`);
  }
  const ratio = figure.overIdeal;
  const width = (Math.min(ratio, longestRatio) / longestRatio) * panel.bars;
  const ideal = `<path d="M${x + panel.bars / longestRatio} ${y - 18}v28" class="ideal"/>`;
  const value = text(x + width + 8, y, own.trim(), `× ${ratio.toFixed(2)}`);
  return name + barOf(ratio, x, y, own) + ideal + value;
};

/** One group of bars with its heading. */
interface Panel {
  readonly title: string;
  readonly rows: readonly CreationFigure[];
}

const heightOf = ({ rows }: Panel): number => panel.top + rows.length * panel.rowHeight + 14;

const panelSvg = ({ title, rows }: Panel, left: number, top: number): string => {
  const [first] = rows;
  const x = left + panel.labels;
  const bottom = top + panel.top + rows.length * panel.rowHeight - 10;
  const lines = rows.map((row, n) => rowOf(row, left, top + panel.top + n * panel.rowHeight + 8));
  return [
    text(x, top + 14, "panel", title),
    text(x, top + 31, "quiet", `ideal: ${(first?.idealSeconds ?? 0).toFixed(0)} s`),
    `<path d="M${x} ${top + panel.top - 10}V${bottom}" class="axis"/>`,
    ...lines,
  ].join("\n");
};

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const titleOf = ({ plan, rate, situation }: CreationFigure): string =>
  situation === "empty"
    ? `${capital(plan)}, empty bucket`
    : `${capital(plan)}: ${rate} ${rate === 1 ? "call" : "calls"}/s`;

/** Groups of the figures that belong side by side: by plan, then those of an emptied bucket. */
export const panelsOf = (
  { creation, disturbed }: Pick<Figures, "creation" | "disturbed">,
  resources: number,
): readonly Panel[] => {
  const wanted = [...creation, ...disturbed].filter(
    (one) => one.resources === resources && one.situation !== "shared",
  );
  return [...Map.groupBy(wanted, titleOf)].map(([title, rows]) => ({ title, rows }));
};

/** The chart of wall time over the ideal by client, as an SVG document for light and dark pages. */
export const chart = (figures: Figures, resources: number): string => {
  const panels = panelsOf(figures, resources);
  const height = Math.max(...panels.map(heightOf), 0);
  const rowCount = Math.ceil(panels.length / 2);
  const width = 2 * panel.width + 2 * edge;
  const total = headHeight + rowCount * height + footHeight;
  const placed = panels.map((one, n) =>
    panelSvg(one, edge + (n % 2) * panel.width, headHeight + Math.floor(n / 2) * height),
  );
  const { roundTripMs, jitterMs } = figures.line;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img" aria-labelledby="title">`,
    `<title id="title">Creating ${resources} resources: wall time over the ideal, by client</title>`,
    `<style>${style}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${total - 1}" rx="8" class="card"/>`,
    text(edge, 38, "title", `Creating ${resources} resources under a rate limit`),
    text(
      edge,
      60,
      "quiet",
      "Wall time over the ideal, which the token bucket of the service allows (dashed line). Shorter is better.",
    ),
    ...placed,
    text(
      edge,
      total - 18,
      "quiet",
      `pulumi-conversation ${figures.version} · ${figures.inFlight} in flight · ${roundTripMs} ± ${jitterMs} ms round trip · virtual time · npm run bench`,
    ),
    "</svg>",
    "",
  ].join("\n");
};

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

const checked = ({ crossCheck: { real, virtual } }: Figures): readonly string[] => {
  const [first] = real;
  if (!first) return [];
  const { plan, resources, burst, idealSeconds } = first;
  const rows = real.map((figure, n) => {
    const inVirtualTime = virtual[n];
    return [figure.client, outcome(figure), inVirtualTime ? outcome(inVirtualTime) : ""];
  });
  const title = `Cross-check: ${plan}, ${resources} resources, burst ${burst}, ideal ${seconds(idealSeconds)}`;
  return ["", title, ...textTable(["client", "real time", "virtual time"], rows)];
};

const alone = ({ pacer }: Figures): readonly string[] => {
  const rows = pacer.map(
    ({ rate, burst, calls, idealSeconds, wallSeconds, overIdeal, refused }) => [
      `${rate}/s, burst ${burst}`,
      `${calls}`,
      `${idealSeconds.toFixed(2)} s`,
      `${wallSeconds.toFixed(2)} s`,
      `×${overIdeal.toFixed(3)}`,
      `${refused}`,
    ],
  );
  const title = "real time, loopback";
  return ["", ...textTable([title, "calls", "ideal", "time", "over the ideal", "refused"], rows)];
};

const engine = (figure: EngineFigure | Skipped): readonly string[] => {
  if ("skipped" in figure) return ["", `Engine: not measured. ${figure.skipped}`];
  const { pulumi, resources, commands } = figure;
  const heading = [
    `Pulumi ${pulumi}, ${resources} resources, no limits`,
    "the same values",
    "the same calls",
    "pulumi-conversation",
    "over the calls",
    "over the values",
  ];
  const rows = commands.map((one) => [
    one.command === "preview" ? "preview, unchanged" : one.command,
    seconds(one.sameValuesSeconds),
    seconds(one.sameCallsSeconds),
    seconds(one.seconds),
    `×${one.overSameCalls.toFixed(2)}`,
    `×${one.overSameValues.toFixed(2)}`,
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
    ...checked(figures),
    ...alone(figures),
    ...engine(figures.engine),
    ...overhead(figures.overhead),
    "",
    `Measured in ${figures.seconds.toFixed(0)} s on ${figures.cores} cores, Node ${figures.node}. See docs/bench.md for how to read the figures.`,
  ];
};
