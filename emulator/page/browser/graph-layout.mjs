/** @import { GraphObject } from "../account-graph.js" */

/** @typedef {{ readonly collection: string, readonly noun: string, readonly doc: string }} Kind */
/** @typedef {{ readonly key: string, readonly object: GraphObject, readonly column: number, readonly row: number, readonly x: number, readonly y: number }} GraphNode */
/** @typedef {{ readonly kind: Kind, readonly column: number, readonly count: number, readonly x: number, readonly y: number }} GraphHeading */
/** @typedef {{ readonly from: GraphNode, readonly to: GraphNode }} GraphEdge */

/**
 * @typedef {object} GraphLayout
 * @property {boolean} isStacked one kind below the other, where there is no room for columns
 * @property {number} width
 * @property {number} height
 * @property {number} nodeWidth
 * @property {readonly GraphHeading[]} headings
 * @property {readonly (readonly GraphNode[])[]} columns
 * @property {ReadonlyMap<string, GraphNode>} nodes by key
 */

export const nodeHeight = 46;
const rowHeight = 56;
const headingHeight = 44;
const margin = 16;
/** Columns of few objects stand in the middle, beside longer ones. */
const mostCentred = 14;

/** One key for each object of an account. @param {{ readonly collection: string, readonly id: string }} object */
export const graphKey = ({ collection, id }) => `${collection}/${id}`;

/** @param {readonly number[]} numbers */
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/**
 * Puts the objects of each column beside those they refer to, so that few lines cross.
 *
 * @param {readonly (readonly GraphObject[])[]} columns
 */
const ordered = (columns) => {
  /** @type {Map<string, number>} Where an object stands within its column, from 0 to 1. */
  const places = new Map();
  const place = (/** @type {readonly GraphObject[]} */ list) => {
    for (const [row, object] of list.entries())
      places.set(graphKey(object), (row + 0.5) / list.length);
  };
  for (const list of columns) place(list);
  return columns.map((list) => {
    const wanted = list.map((object, row) => {
      const others = object.references.flatMap(
        (reference) => places.get(graphKey(reference)) ?? [],
      );
      return { object, row, at: others.length > 0 ? mean(others) : (row + 0.5) / list.length };
    });
    const sorted = wanted.sort((a, b) => a.at - b.at || a.row - b.row).map(({ object }) => object);
    place(sorted);
    return sorted;
  });
};

/** All columns fit into the width, whatever it is. @param {number} width @param {number} count */
const columnSizes = (width, count) => {
  const gap = width < 1100 ? 24 : 56;
  const room = (width - 2 * margin - (count - 1) * gap) / count;
  return { gap, nodeWidth: Math.min(230, Math.floor(room)) };
};

/** @param {readonly Kind[]} kinds @param {readonly (readonly GraphObject[])[]} columns @param {ReturnType<typeof columnSizes>} sizes @returns {GraphLayout} */
const inColumns = (kinds, columns, { gap, nodeWidth }) => {
  const rows = Math.max(1, ...columns.map((list) => list.length));
  const xOf = (/** @type {number} */ column) => margin + column * (nodeWidth + gap);
  const offset = (/** @type {readonly GraphObject[]} */ list) =>
    rows <= mostCentred ? ((rows - list.length) * rowHeight) / 2 : 0;
  const placed = columns.map((list, column) =>
    list.map((object, row) => ({
      key: graphKey(object),
      object,
      column,
      row,
      x: xOf(column),
      y: headingHeight + offset(list) + row * rowHeight,
    })),
  );
  return {
    isStacked: false,
    width: xOf(kinds.length) - gap + margin,
    height: headingHeight + rows * rowHeight + margin,
    nodeWidth,
    headings: kinds.map((kind, column) => ({
      kind,
      column,
      count: columns[column]?.length ?? 0,
      x: xOf(column),
      y: 0,
    })),
    columns: placed,
    nodes: new Map(placed.flat().map((node) => [node.key, node])),
  };
};

/** @param {readonly Kind[]} kinds @param {readonly (readonly GraphObject[])[]} columns @param {number} width @returns {GraphLayout} */
const stacked = (kinds, columns, width) => {
  let y = 0;
  /** @type {GraphHeading[]} */
  const headings = [];
  const placed = kinds.map((kind, column) => {
    const list = columns[column] ?? [];
    headings.push({ kind, column, count: list.length, x: margin, y });
    y += headingHeight;
    const nodes = list.map((object, row) => ({
      key: graphKey(object),
      object,
      column,
      row,
      x: margin,
      y: y + row * rowHeight,
    }));
    y += list.length * rowHeight + 8;
    return nodes;
  });
  return {
    isStacked: true,
    width,
    height: y + margin,
    nodeWidth: width - 2 * margin,
    headings,
    columns: placed,
    nodes: new Map(placed.flat().map((node) => [node.key, node])),
  };
};

/** Where cards would be narrower than this, a name would say nothing: there are no columns. */
const leastNodeWidth = 110;

/**
 * Where each object stands: a column for each kind, in set-up order, so that all lines lead from left
 * to right.
 *
 * @param {readonly Kind[]} kinds in set-up order
 * @param {readonly GraphObject[]} objects
 * @param {number} width of the view in pixels
 */
export const layOut = (kinds, objects, width) => {
  const byKind = Map.groupBy(objects, ({ collection }) => collection);
  const columns = ordered(kinds.map(({ collection }) => byKind.get(collection) ?? []));
  const sizes = columnSizes(width, kinds.length);
  return sizes.nodeWidth < leastNodeWidth
    ? stacked(kinds, columns, width)
    : inColumns(kinds, columns, sizes);
};

/** The references of an object to objects that are there. @param {GraphLayout} layout @param {GraphNode} node @returns {readonly GraphEdge[]} */
export const edgesFrom = ({ nodes }, node) =>
  [...new Set(node.object.references.map(graphKey))].flatMap((key) => {
    const to = nodes.get(key);
    return to ? [{ from: node, to }] : [];
  });

/** Half of the room between two cards of a column: where lines to objects further away pass. */
const passage = (rowHeight - nodeHeight) / 2;

/** The height nearest to a wanted one at which a line crosses a column without touching a card. @param {readonly GraphNode[]} list @param {number} y */
const crossing = (list, y) => {
  const [first, last] = [list[0], list.at(-1)];
  const isBeside = !first || !last || y <= first.y - passage || y >= last.y + nodeHeight + passage;
  if (isBeside) return y;
  return first.y + Math.round((y + passage - first.y) / rowHeight) * rowHeight - passage;
};

/**
 * The line of a reference, as the path of a drawing: from the right side of what is referred to, to the
 * left side of what refers to it. It bends between the columns only and crosses a column between two
 * cards, so that it touches no card but its ends.
 *
 * @param {GraphLayout} layout in columns
 * @param {GraphEdge} edge
 */
export const linePath = ({ columns, headings, nodeWidth }, { from, to }) => {
  const end = { x: from.x, y: from.y + nodeHeight / 2 };
  let [x, y] = [to.x + nodeWidth, to.y + nodeHeight / 2];
  let path = `M${x} ${y}`;
  /** @param {{ readonly x: number, readonly y: number }} next */
  const bendTo = (next) => {
    const middle = (x + next.x) / 2;
    path += `C${middle} ${y} ${middle} ${next.y} ${next.x} ${next.y}`;
    [x, y] = [next.x, next.y];
  };
  for (const heading of headings.slice(to.column + 1, from.column)) {
    const wanted = y + ((end.y - y) * (heading.x - x)) / (end.x - x);
    bendTo({ x: heading.x, y: crossing(columns[heading.column] ?? [], wanted) });
    x += nodeWidth;
    path += `H${x}`;
  }
  bendTo(end);
  return path;
};

/**
 * The keys of the objects that refer to each object.
 *
 * @param {readonly GraphObject[]} objects
 * @returns {ReadonlyMap<string, readonly string[]>}
 */
export const usersByKey = (objects) => {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const object of objects)
    for (const key of new Set(object.references.map(graphKey))) {
      const list = users.get(key);
      if (list) list.push(graphKey(object));
      else users.set(key, [graphKey(object)]);
    }
  return users;
};

/**
 * The nodes between two heights.
 *
 * @param {GraphLayout} layout
 * @param {number} top
 * @param {number} bottom
 */
export const nodesBetween = ({ columns }, top, bottom) =>
  columns.flatMap((list) => {
    const start = list[0]?.y ?? 0;
    const from = Math.max(0, Math.floor((top - start) / rowHeight));
    return list.slice(from, Math.max(from, Math.ceil((bottom - start) / rowHeight)));
  });

/**
 * Where an arrow key leads to.
 *
 * @param {GraphLayout} layout
 * @param {GraphNode} node
 * @param {string} arrow the name of the key
 * @returns {GraphNode | undefined}
 */
export const neighbour = ({ columns, isStacked }, node, arrow) => {
  const list = columns[node.column] ?? [];
  if (arrow === "Home") return list[0];
  if (arrow === "End") return list.at(-1);
  const filled = columns.filter((column) => column.length > 0);
  const own = filled.indexOf(list);
  if (arrow === "ArrowUp")
    return list[node.row - 1] ?? (isStacked ? filled[own - 1]?.at(-1) : undefined);
  if (arrow === "ArrowDown")
    return list[node.row + 1] ?? (isStacked ? filled[own + 1]?.[0] : undefined);
  const step = arrow === "ArrowLeft" ? -1 : arrow === "ArrowRight" ? 1 : 0;
  const other = step === 0 ? undefined : filled[own + step];
  return other?.toSorted((a, b) => Math.abs(a.y - node.y) - Math.abs(b.y - node.y))[0];
};
