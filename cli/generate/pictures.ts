import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { type ReferencePath, referencesOf, setUpOrder } from "../../provider/definition/fields.js";

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.union([z.string(), z.object({ default: z.string() })])),
});

const productFolders = ["examples", "cli", "sdk", "emulator", "provider"];

const filesOf = (root: string): readonly string[] =>
  productFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.m?ts$/.test(file) && !/node_modules|\.test\.m?ts$/.test(file))
      .map((file) => join(folder, file)),
  );

/** Sources of the entry points, by what a program imports: `pulumi-conversation/runtime`. */
const entryPoints = (root: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(root, "package.json"), "utf8");
  const { name, exports } = manifestSchema.parse(JSON.parse(text));
  return new Map(
    Object.entries(exports).flatMap(([path, entry]) =>
      typeof entry === "string"
        ? []
        : [[join(name, path), entry.default.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts")]],
    ),
  );
};

const isErased = (names: string): boolean => {
  const inBraces = /^\{([\s\S]*)\}\s*$/.exec(names)?.[1];
  const single = inBraces?.split(",").map((name) => name.trim());
  return single?.every((name) => name === "" || name.startsWith("type ")) ?? false;
};

/** The modules that a source loads when it runs, without type imports. */
const loadedBy = (text: string): readonly string[] => [
  ...[...text.matchAll(/^(?:import|export) (?!type\b)([^;"]*?)from "([^"]+)"/gm)]
    .filter(([, names = ""]) => !isErased(names))
    .map(([, , path = ""]) => path),
  ...[...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, path = ""]) => path),
];

/**
 * Which part of the product loads code of which others: each folder of the provider is a part, and
 * so is each folder of an entry point and each top-level folder. Imports of types alone do not
 * count.
 *
 * @param root folder of the package, with its sources
 * @throws Error if a folder cannot be read
 */
export const partImports = (root: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const entries = entryPoints(root);
  const entryFolders = new Set([...entries.values()].map((file) => dirname(file)));
  const partOf = (file: string): string => {
    const [top = "", below = ""] = file.replace(/\.m?[jt]s$/, "").split("/");
    const inside = join(top, below);
    return top === "provider" || entryFolders.has(inside) ? inside : top;
  };
  const loads = new Map<string, Set<string>>();
  for (const file of filesOf(root)) {
    const own = loads.get(partOf(file)) ?? new Set();
    loads.set(partOf(file), own);
    for (const path of loadedBy(readFileSync(join(root, file), "utf8"))) {
      const target = path.startsWith(".")
        ? normalize(join(dirname(file), path))
        : entries.get(path);
      if (target && partOf(target) !== partOf(file)) own.add(partOf(target));
    }
  }
  return loads;
};

type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const reaches = (imports: Imports, from: string, to: string): boolean => {
  const seen = new Set([from]);
  for (const part of seen) for (const next of imports.get(part) ?? []) seen.add(next);
  return seen.has(to);
};

/** Removes them one at a time, so that one of two that follow from each other stays. */
const withoutWhatFollows = (imports: Imports): Imports => {
  const left = new Map([...imports].map(([from, targets]) => [from, new Set(targets)]));
  for (const from of [...left.keys()].toSorted())
    for (const to of [...(left.get(from) ?? [])].toSorted()) {
      left.get(from)?.delete(to);
      if (!reaches(left, from, to)) left.get(from)?.add(to);
    }
  return left;
};

const nodeOf = (part: string): string => `${part.replaceAll(/\W/g, "_")}["${part}"]`;

/**
 * The parts and what each of them loads, as a block of Mermaid. An arrow that follows from others is
 * left out.
 *
 * @param imports for each part the parts whose code it loads
 */
export const architecturePicture = (imports: Imports): string => {
  const arrows = [...withoutWhatFollows(imports)].flatMap(([from, targets]) =>
    [...targets].map((to) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
  );
  return ["```mermaid", "flowchart TD", ...arrows.toSorted(), "```", ""].join("\n");
};

const edge = 28;
const box = { width: 390, head: 34, row: 22, foot: 8, gap: 26 };
/** Offset of each box to the right of the one before: lines go down between their left edges. */
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

/** The kinds in setup order, each below and to the right of the one before. */
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

/** Lines from the row of a reference to the left and up to its target. */
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

/** An SVG document, for light and dark pages, of which kind refers to which by which property. */
export const accountPicture = (resources: readonly Definition[]): string => {
  const boxes = placed(resources);
  const last = boxes.at(-1);
  const width = (last?.x ?? 0) + box.width + edge;
  const height = (last ? last.y + last.height : top) + edge;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">The kinds of objects in an account, in setup order, and what each refers to</title>`,
    `<style>${style}</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" class="card"/>`,
    text(edge, 40, "title", "What an account is made of"),
    text(edge, 62, "quiet", "In setup order; objects are removed in reverse order."),
    ...linesOf(boxes),
    ...boxes.map(boxSvg),
    "</svg>",
    "",
  ].join("\n");
};
