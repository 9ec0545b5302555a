import type { Definition } from "../../provider/definition/define.js";
import {
  type ReferencePath,
  referencesOf,
  setUpOrder,
} from "../../provider/definition/references.js";

const edge = 28;
const box = { width: 390, head: 34, row: 22, foot: 8, gap: 26 };
/** Each box stands so far to the right of the one before: lines go down between their left edges. */
const stepRight = 88;
const top = 92;

const style = `
  .card { fill: #ffffff; stroke: #d5dae1; }
  .box { fill: #f4f6f9; stroke: #9aa6b5; }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1f2733; }
  .title { font-size: 19px; font-weight: 600; }
  .kind { font-size: 14px; font-weight: 600; }
  .quiet { fill: #5c6776; font-size: 12px; }
  .line { fill: none; stroke: #1667c9; stroke-width: 1.5; }
  .end { fill: #1667c9; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #11161d; stroke: #323b47; }
    .box { fill: #1b222c; stroke: #64707f; }
    text { fill: #e4e9ef; }
    .quiet { fill: #97a3b2; }
    .line { stroke: #58a6ff; }
    .end { fill: #58a6ff; }
  }
`;

interface Placed {
  readonly definition: Definition;
  readonly references: readonly ReferencePath[];
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

const text = (x: number, y: number, name: string, content: string): string =>
  `<text x="${x}" y="${y}" class="${name}">${content}</text>`;

/** The kinds in set-up order, each below and to the right of the one before. */
const placed = (resources: readonly Definition[]): readonly Placed[] => {
  let y = top;
  return setUpOrder(resources).map((definition, place) => {
    const references = referencesOf(definition);
    const height = box.head + references.length * box.row + box.foot;
    const at = { definition, references, x: edge + place * stepRight, y, height };
    y += height + box.gap;
    return at;
  });
};

const rowY = ({ y }: Placed, row: number): number => y + box.head + row * box.row + 6;

const boxSvg = (at: Placed, place: number): string => {
  const { definition, references, x, y, height } = at;
  const uses = references.length === 0 ? " refers to nothing" : " refers to";
  return [
    `<rect x="${x}" y="${y}" width="${box.width}" height="${height}" rx="6" class="box"/>`,
    `<text x="${x + 14}" y="${y + 22}"><tspan class="kind">${place + 1}. ${definition.kind}</tspan><tspan class="quiet">${uses}</tspan></text>`,
    ...references.map(({ path }, row) => text(x + 14, rowY(at, row) + 4, "quiet", path)),
  ].join("\n");
};

/** From the row of a reference to the left, and up to what it refers to. */
const linesOf = (boxes: readonly Placed[]): readonly string[] =>
  boxes.flatMap((target) => {
    const users = boxes.flatMap((user) =>
      user.references.flatMap(({ to }, row) =>
        to.kind === target.definition.kind ? [{ x: user.x, y: rowY(user, row) }] : [],
      ),
    );
    const apart = Math.min(14, (stepRight - 28) / Math.max(users.length, 1));
    const bottom = target.y + target.height;
    return users.map(({ x, y }, place) => {
      const down = target.x + 16 + place * apart;
      return [
        `<path d="M${x} ${y}H${down}V${bottom + 6}" class="line"/>`,
        `<path d="M${down - 4} ${bottom + 8}L${down} ${bottom}L${down + 4} ${bottom + 8}Z" class="end"/>`,
      ].join("\n");
    });
  });

/** Which kind refers to which, by which property, as an SVG document for light and dark pages. */
export const accountPicture = (resources: readonly Definition[]): string => {
  const boxes = placed(resources);
  const last = boxes.at(-1);
  const width = (last?.x ?? 0) + box.width + edge;
  const height = (last ? last.y + last.height : top) + edge;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">The kinds of objects of an account in set-up order, and what each refers to</title>`,
    `<style>${style}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" class="card"/>`,
    text(edge, 40, "title", "What an account is made of"),
    text(
      edge,
      62,
      "quiet",
      "In the order in which it is set up; it is removed the other way round.",
    ),
    ...linesOf(boxes),
    ...boxes.map(boxSvg),
    "</svg>",
    "",
  ].join("\n");
};
