/** A part of a row, in milliseconds since the first row began. */
interface TracedPart {
  /** `wait`: for its turn. `other`: for what another row fetches. `call`: an attempt on its way. */
  readonly sort: "wait" | "other" | "call";
  readonly from: number;
  readonly until: number;
}

/** One resource of a traced run. */
export interface TracedRow {
  readonly name: string;
  readonly from: number;
  readonly until: number;
  readonly parts: readonly TracedPart[];
}

const edge = 24;
const labels = 190;
const bars = 560;
const row = { height: 20, bar: 12 };
const top = 96;
const foot = 64;
/** A call takes a few milliseconds of half a minute, and is to be seen all the same. */
const leastWidth = 2.5;

const style = `
  .card { fill: #ffffff; stroke: #d5dae1; }
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2733; }
  .title { font-size: 19px; font-weight: 600; }
  .quiet { fill: #5c6776; }
  .label { text-anchor: end; }
  .tick { text-anchor: middle; fill: #5c6776; }
  .axis { stroke: #d5dae1; }
  .wait { fill: #b9c3cf; }
  .other { fill: #e0b252; }
  .call { fill: #1667c9; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #11161d; stroke: #323b47; }
    text { fill: #e4e9ef; }
    .quiet, .tick { fill: #97a3b2; }
    .axis { stroke: #323b47; }
    .wait { fill: #55606e; }
    .other { fill: #b98a2e; }
    .call { fill: #58a6ff; }
  }
`;

const text = (x: number, y: number, name: string, content: string): string =>
  `<text x="${x.toFixed(1)}" y="${y}" class="${name}">${content}</text>`;

const legend = [
  { sort: "wait", says: "waits for its turn" },
  { sort: "call", says: "call" },
  { sort: "other", says: "waits for a list or token that another resource fetches" },
] as const;

const legendSvg = (y: number): string => {
  let x = edge;
  return legend
    .map(({ sort, says }) => {
      const at = x;
      x += 34 + says.length * 6.6;
      return `<rect x="${at}" y="${y - 10}" width="${row.bar}" height="${row.bar}" class="${sort}"/>${text(at + 18, y, "quiet", says)}`;
    })
    .join("\n");
};

/** An SVG document, for light and dark pages, of what each resource of a run waited for. */
export const tracePicture = (title: string, rows: readonly TracedRow[]): string => {
  const lastMs = Math.max(1, ...rows.map(({ until }) => until));
  const left = edge + labels;
  const x = (ms: number): number => left + (ms / lastMs) * bars;
  const bottom = top + rows.length * row.height;
  const [width, height] = [left + bars + 2 * edge, bottom + foot];
  const step = [1, 2, 5, 10, 20, 50, 100].find((s) => lastMs / 1000 / s <= 8) ?? 200;
  const ticks = Array.from({ length: Math.floor(lastMs / 1000 / step) + 1 }, (_, n) => n * step);
  const barOf = ({ sort, from, until }: TracedPart, y: number): string =>
    `<rect x="${x(from).toFixed(1)}" y="${y - 10}" width="${Math.max(leastWidth, x(until) - x(from)).toFixed(1)}" height="${row.bar}" class="${sort}"/>`;
  const order = { wait: 0, other: 1, call: 2 } as const;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    `<style>${style}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" class="card"/>`,
    text(edge, 38, "title", title),
    legendSvg(64),
    ...ticks.map(
      (second) =>
        `<path d="M${x(second * 1000).toFixed(1)} ${top - 12}V${bottom}" class="axis"/>${text(x(second * 1000), bottom + 18, "tick", `${second} s`)}`,
    ),
    ...rows.map(({ name, parts }, n) => {
      const y = top + n * row.height + 10;
      const drawn = parts.toSorted((a, b) => order[a.sort] - order[b.sort]);
      return [text(left - 10, y, "label", name), ...drawn.map((part) => barOf(part, y))].join("\n");
    }),
    text(edge, height - 18, "quiet", "One row for each resource, from the spans of a real run."),
    "</svg>",
    "",
  ].join("\n");
};
