import { objectKey } from "./emulator.mjs";

/** @import { GraphObject } from "../page-routes.js" */

/** @typedef {{ readonly collection: string, readonly noun: string, readonly doc: string }} Kind */
/** One kind: where it begins across the graph, and its objects from the height `top` on. @typedef {{ readonly kind: Kind, readonly x: number, readonly top: number, readonly objects: readonly GraphObject[] }} Column */
/** A line from an object to one that it refers to. @typedef {{ readonly from: string, readonly to: string, readonly path: string }} Line */

/** Heights in pixels: of a card, and from one card to the next. */
export const cardHeight = 46;
export const pitch = 60;
const passage = (pitch - cardHeight) / 2;
/** Between two columns, as a part of a column's width. */
const gapShare = 0.24;
/** Columns of few objects are centered beside longer ones. */
const mostCentred = 12;
/** Lines to different objects pass side by side: so far from the middle, in pixels. */
const offsets = [0, 3, -3];

/** @param {readonly number[]} numbers */
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** The keys of the objects that an object refers to, each once. @param {GraphObject} object */
export const usedKeys = (object) => [...new Set(object.references.map(objectKey))];

/** Puts the objects of each kind beside those they refer to, so that few lines cross. @param {readonly (readonly GraphObject[])[]} lists in setup order */
const sortBesideUsed = (lists) => {
  /** @type {Map<string, number>} Where an object stands within its column, from 0 to 1. */
  const places = new Map();
  return lists.map((list) => {
    const wanted = list.map((object, row) => {
      const used = usedKeys(object).flatMap((key) => places.get(key) ?? []);
      return { object, row, at: used.length > 0 ? mean(used) : (row + 0.5) / list.length };
    });
    const sorted = wanted.sort((a, b) => a.at - b.at || a.row - b.row).map(({ object }) => object);
    for (const [row, object] of sorted.entries())
      places.set(objectKey(object), (row + 0.5) / sorted.length);
    return sorted;
  });
};

/** The height nearest to a wanted one at which a line crosses a column without touching a card. @param {Column} column @param {number} y @param {number} offset */
const crossingAt = ({ top, objects }, y, offset) => {
  const isBeside = y <= top - passage || y >= top + objects.length * pitch - passage;
  if (objects.length === 0 || isBeside) return y;
  return top + Math.round((y + passage - top) / pitch) * pitch - passage + offset;
};

/** The width of one of so many columns, of 100. @param {number} count */
export const columnWidth = (count) => 100 / (count + (count - 1) * gapShare);

/**
 * Draws the objects in one column for each kind, in setup order, so that all lines run one way: from
 * the right side of what is used to the left side of what uses it. A line bends only between columns
 * and crosses a column between two cards, so that it touches no other card. Widths are parts of 100.
 *
 * @param {readonly Kind[]} kinds in setup order
 * @param {readonly GraphObject[]} objects
 * @returns {{ readonly columns: readonly Column[], readonly height: number, readonly lines: readonly Line[] }}
 */
export const drawGraph = (kinds, objects) => {
  const byKind = Map.groupBy(objects, ({ collection }) => collection);
  const lists = sortBesideUsed(kinds.map(({ collection }) => byKind.get(collection) ?? []));
  const rows = Math.max(1, ...lists.map((list) => list.length));
  const width = columnWidth(kinds.length);
  const columns = kinds.map((kind, place) => {
    const list = lists[place] ?? [];
    const top = rows <= mostCentred ? ((rows - list.length) * pitch) / 2 : 0;
    return { kind, x: place * width * (1 + gapShare), top, objects: list };
  });
  const places = new Map(
    columns.flatMap(({ top, objects: list }, column) =>
      list.map((object, row) => [objectKey(object), { column, row, y: top + row * pitch }]),
    ),
  );

  /** @param {string} from @param {string} to @returns {Line[]} none if one of them is not there */
  const drawLine = (from, to) => {
    const [user, used] = [places.get(from), places.get(to)];
    if (!user || !used) return [];
    const end = { x: columns[user.column]?.x ?? 0, y: user.y + cardHeight / 2 };
    let [x, y] = [(columns[used.column]?.x ?? 0) + width, used.y + cardHeight / 2];
    let path = `M${x} ${y}`;
    const bendTo = (/** @type {number} */ nextX, /** @type {number} */ nextY) => {
      const middle = (x + nextX) / 2;
      path += `C${middle} ${y} ${middle} ${nextY} ${nextX} ${nextY}`;
      [x, y] = [nextX, nextY];
    };
    const offset = offsets[(user.column + user.row) % offsets.length] ?? 0;
    for (const column of columns.slice(used.column + 1, user.column)) {
      const wanted = y + ((end.y - y) * (column.x - x)) / (end.x - x);
      bendTo(column.x, crossingAt(column, wanted, offset));
      x += width;
      path += `H${x}`;
    }
    bendTo(end.x, end.y);
    return [{ from, to, path }];
  };
  const lines = objects.flatMap((object) =>
    usedKeys(object).flatMap((key) => drawLine(objectKey(object), key)),
  );
  return { columns, height: rows * pitch, lines };
};
