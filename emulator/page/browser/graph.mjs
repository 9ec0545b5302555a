import {
  countText,
  drawing,
  element,
  fill,
  foreignText,
  group,
  keepRows,
  moveTo,
  setAttributes,
  shortText,
  withoutBidi,
} from "./elements.mjs";

/** @import { GraphObject } from "../page-routes.js" */

/** @typedef {{ readonly collection: string, readonly noun: string, readonly doc: string }} Kind */
/** @typedef {{ readonly key: string, readonly object: GraphObject, readonly column: number, readonly row: number, readonly x: number, readonly y: number }} GraphNode */
/** @typedef {{ readonly kind: Kind, readonly column: number, readonly count: number, readonly x: number, readonly y: number }} GraphHeading */
/** @typedef {{ readonly from: GraphNode, readonly to: GraphNode }} GraphEdge */

/**
 * @typedef {object} GraphLayout
 * @property {boolean} isStacked one kind below the other, if there is no room for columns
 * @property {number} width
 * @property {number} height
 * @property {number} nodeWidth
 * @property {readonly GraphHeading[]} headings
 * @property {readonly (readonly GraphNode[])[]} columns
 * @property {ReadonlyMap<string, GraphNode>} nodes by key
 */

export const nodeHeight = 46;
const rowHeight = 62;
const headingHeight = 44;
const margin = 16;
/** Columns of few objects are centered beside longer ones. */
const mostCentred = 14;
/** If cards were narrower than this, names would be unreadable, so there are no columns. */
const leastNodeWidth = 110;

/** The key of an object, unique within its account. @param {{ readonly collection: string, readonly id: string }} object */
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

/**
 * Lays out the objects: in one column for each kind, in setup order, so that all lines run from
 * left to right. If the view is too narrow, stacks the kinds vertically.
 *
 * @param {readonly Kind[]} kinds in setup order
 * @param {readonly GraphObject[]} objects
 * @param {number} width of the view in pixels
 * @returns {GraphLayout}
 */
export const layOut = (kinds, objects, width) => {
  const byKind = Map.groupBy(objects, ({ collection }) => collection);
  const lists = ordered(kinds.map(({ collection }) => byKind.get(collection) ?? []));
  const gap = width < 1100 ? 24 : 56;
  const room = Math.floor((width - 2 * margin - (kinds.length - 1) * gap) / kinds.length);
  const isStacked = room < leastNodeWidth;
  const nodeWidth = isStacked ? width - 2 * margin : Math.min(230, room);
  const rows = Math.max(1, ...lists.map((list) => list.length));
  /** Where the next kind begins. */
  let top = 0;
  const placed = kinds.map((kind, column) => {
    const list = lists[column] ?? [];
    const isCentred = !isStacked && rows <= mostCentred;
    const above = isCentred ? ((rows - list.length) * rowHeight) / 2 : 0;
    const x = isStacked ? margin : margin + column * (nodeWidth + gap);
    const heading = { kind, column, count: list.length, x, y: top };
    const nodes = list.map((object, row) => ({
      ...{ key: graphKey(object), object, column, row, x },
      y: heading.y + headingHeight + above + row * rowHeight,
    }));
    if (isStacked) top += headingHeight + list.length * rowHeight + 8;
    return { heading, nodes };
  });
  const columns = placed.map(({ nodes }) => nodes);
  return {
    isStacked,
    width: isStacked ? width : 2 * margin + kinds.length * (nodeWidth + gap) - gap,
    height: margin + (isStacked ? top : headingHeight + rows * rowHeight),
    nodeWidth,
    headings: placed.map(({ heading }) => heading),
    columns,
    nodes: new Map(columns.flat().map((node) => [node.key, node])),
  };
};

/** An object's references to existing objects. @param {GraphLayout} layout @param {GraphNode} node @returns {readonly GraphEdge[]} */
export const edgesFrom = ({ nodes }, node) =>
  [...new Set(node.object.references.map(graphKey))].flatMap((key) => {
    const to = nodes.get(key);
    return to ? [{ from: node, to }] : [];
  });

/** Half of the room between two cards of a column: where lines to objects further away pass. */
const passage = (rowHeight - nodeHeight) / 2;

/** Lines to different objects pass side by side: so far from the middle, in pixels. */
const offsets = [0, 3, -3];

/** The height nearest to a wanted one at which a line crosses a column without touching a card. @param {readonly GraphNode[]} list @param {number} y @param {number} offset */
const crossing = (list, y, offset) => {
  const [first, last] = [list[0], list.at(-1)];
  const isBeside = !first || !last || y <= first.y - passage || y >= last.y + nodeHeight + passage;
  if (isBeside) return y;
  return first.y + Math.round((y + passage - first.y) / rowHeight) * rowHeight - passage + offset;
};

/**
 * The line for a reference, as an SVG path: from the right side of the target to the left side of the object that refers to it. It bends only between columns and crosses a column between two cards, so that it touches no other card.
 *
 * @param {GraphLayout} layout in columns
 * @param {GraphEdge} edge
 */
export const linePath = ({ columns, headings, nodeWidth }, { from, to }) => {
  const end = { x: from.x, y: from.y + nodeHeight / 2 };
  let [x, y] = [to.x + nodeWidth, to.y + nodeHeight / 2];
  const offset = offsets[(from.column + from.row) % offsets.length] ?? 0;
  let path = `M${x} ${y}`;
  /** @param {{ readonly x: number, readonly y: number }} next */
  const bendTo = (next) => {
    const middle = (x + next.x) / 2;
    path += `C${middle} ${y} ${middle} ${next.y} ${next.x} ${next.y}`;
    [x, y] = [next.x, next.y];
  };
  for (const heading of headings.slice(to.column + 1, from.column)) {
    const wanted = y + ((end.y - y) * (heading.x - x)) / (end.x - x);
    bendTo({ x: heading.x, y: crossing(columns[heading.column] ?? [], wanted, offset) });
    x += nodeWidth;
    path += `H${x}`;
  }
  bendTo(end);
  return path;
};

/** For each object's key, the keys of the objects that refer to it. @param {readonly GraphObject[]} objects */
export const usersByKey = (objects) => {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const object of objects)
    for (const key of new Set(object.references.map(graphKey))) {
      const list = users.get(key) ?? [];
      list.push(graphKey(object));
      users.set(key, list);
    }
  return users;
};

/** The nodes between two vertical positions. @param {GraphLayout} layout @param {number} top @param {number} bottom */
export const nodesBetween = ({ columns }, top, bottom) =>
  columns.flat().filter(({ y }) => y + rowHeight > top && y < bottom);

/**
 * The node that a key (an arrow, Home, or End) moves the focus to, if any.
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

/** More lines at once are useless. */
const mostEdges = 600;

/** How far to render beyond the visible part, in pixels. */
const spare = 600;
/** What is rendered changes only after so much scrolling, so that most frames change nothing. */
const scrollStep = 300;

/** The name of an object, or its ID if it has no name. @param {GraphObject} object */
export const titleOf = ({ name, id }) => shortText(name || id);

/** @param {GraphHeading} heading @param {number} width */
const headingOf = ({ kind, count, x, y }, width) => {
  const noun = element("span", { class: "noun" }, `${kind.noun}s`);
  const made = element(
    "div",
    { class: "kind", title: kind.doc },
    noun,
    " ",
    element("span", { class: "badge" }, countText(count)),
  );
  made.style.transform = `translate(${x}px, ${y}px)`;
  made.style.width = `${width}px`;
  return made;
};

/** The drawing of the account: a column for each kind, and lines from each object to those that refer to it. */
export class GraphView {
  #headings = group("kinds");
  #lines = drawing("svg", { class: "lines", "aria-hidden": "true" });
  #nodes = element("div", { class: "nodes", role: "list", "aria-label": "Objects in the account" });
  #canvas = group("canvas", this.#headings, this.#lines, this.#nodes);
  element = element(
    "div",
    { class: "scroller graph", role: "region", "aria-label": "Graph" },
    this.#canvas,
  );
  /** @type {import("./elements.mjs").Rows} */
  #rows = new Map();
  /** The lines drawn so far, keyed by both ends. @type {Map<string, SVGPathElement>} */
  #paths = new Map();
  /** @type {readonly GraphObject[]} */
  #objects = [];
  /** @type {ReadonlyMap<string, readonly string[]>} */
  #users = new Map();
  #chosen = "";
  /** The object that the Tab key moves the focus to. */
  #active = "";
  #width = 0;
  #height = 0;
  #isWaiting = false;
  /** The last rendered scroll step. */
  #rendered = 0;

  /** @param {readonly Kind[]} kinds in setup order @param {(key: string) => void} choose */
  constructor(kinds, choose) {
    this.kinds = kinds;
    this.choose = choose;
    this.layout = layOut(kinds, [], 1000);
    this.#nodes.addEventListener("keydown", (event) => this.#follow(event));
    this.#nodes.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLElement && target.dataset.key) this.#active = target.dataset.key;
    });
    const scrolled = () => {
      if (this.#step() !== this.#rendered) this.#later();
    };
    this.element.addEventListener("scroll", scrolled, { passive: true });
    new ResizeObserver(() => this.#resized()).observe(this.element);
  }

  /** @param {readonly GraphObject[]} objects */
  show(objects) {
    this.#objects = objects;
    this.#users = usersByKey(objects);
    this.#arrange();
  }

  /** Highlights an object and its connections; an empty key removes the highlight. @param {string} key */
  mark(key) {
    if (this.#chosen === key) return;
    this.#chosen = key;
    const node = this.layout.nodes.get(key);
    if (node) {
      this.#active = key;
      this.#reveal(node);
    }
    this.#render();
  }

  /** Returns the keyboard focus to the object that had it last. */
  focus() {
    this.#rows.get(this.#active)?.row.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Keys of the objects that refer to an object. @param {string} key */
  usersOf(key) {
    return this.#users.get(key) ?? [];
  }

  /** Adapts to a new size. Scrolls the selected object into view if it was in view or the width has changed. */
  #resized() {
    const { clientWidth, clientHeight, scrollTop } = this.element;
    const hasOtherWidth = clientWidth !== this.#width;
    const bottom = scrollTop + this.#height;
    [this.#width, this.#height] = [clientWidth, clientHeight];
    if (hasOtherWidth) this.#arrange();
    else this.#later();
    const node = this.layout.nodes.get(this.#chosen);
    if (node && (hasOtherWidth || (node.y >= scrollTop && node.y < bottom))) this.#reveal(node);
  }

  #arrange() {
    this.layout = layOut(this.kinds, this.#objects, this.element.clientWidth || 1000);
    const { width, height, nodeWidth, headings, isStacked } = this.layout;
    Object.assign(this.#canvas.style, { width: `${width}px`, height: `${height}px` });
    this.#paths.clear();
    fill(this.#lines);
    // As large as all of it: moved along, it would be painted anew with each step.
    setAttributes(this.#lines, { width, height });
    this.#canvas.classList.toggle("stacked", isStacked);
    fill(this.#headings, ...headings.map((heading) => headingOf(heading, nodeWidth)));
    this.#render();
  }

  #later() {
    if (!this.#isWaiting) requestAnimationFrame(() => this.#render());
    this.#isWaiting = true;
  }

  /** The scroll position, in steps. */
  #step() {
    const { scrollTop, clientHeight } = this.element;
    // The scroll position may be beyond the end of a new drawing.
    const end = Math.max(0, this.layout.height - clientHeight);
    return Math.floor(Math.min(scrollTop, end) / scrollStep);
  }

  #render() {
    this.#isWaiting = false;
    const { layout } = this;
    this.#rendered = this.#step();
    const at = this.#rendered * scrollStep;
    const height = this.element.clientHeight || 700;
    const top = Math.max(0, at - spare);
    const bottom = Math.min(layout.height, at + scrollStep + height + spare);
    const seen = nodesBetween(layout, top, bottom);
    const active = layout.nodes.get(this.#active);
    // The focused object stays, wherever the person scrolled to.
    const shown = active && !seen.includes(active) ? [...seen, active] : seen;
    keepRows(
      this.#nodes,
      this.#rows,
      shown.map((node) => [node.key, this.#versionOf(node), () => this.#node(node)]),
    );
    this.#place(shown);
    this.#draw(seen);
  }

  /** Draws the visible lines, with those of the selected object on top. @param {readonly GraphNode[]} seen */
  #draw(seen) {
    const { layout } = this;
    const { isStacked, nodes } = layout;
    if (isStacked) return;
    const chosen = nodes.get(this.#chosen);
    const users = this.usersOf(this.#chosen).flatMap((key) => nodes.get(key) ?? []);
    const inSight = new Set(seen);
    const near = new Set(chosen ? [...seen, chosen, ...users] : seen);
    const edges = [...near].flatMap((node) => edgesFrom(layout, node));
    const isStrong = (/** @type {GraphEdge} */ { from, to }) => from === chosen || to === chosen;
    const others = edges.filter((edge) => inSight.has(edge.from) && !isStrong(edge));
    this.#keepPaths([
      ...others.slice(0, mostEdges).map((edge) => ({ edge, name: chosen ? "faint" : "plain" })),
      ...edges.filter(isStrong).map((edge) => ({ edge, name: "strong" })),
    ]);
  }

  /** Removes all lines except the wanted ones, and draws any wanted lines that do not exist yet. @param {readonly { readonly edge: GraphEdge, readonly name: string }[]} wanted the uppermost last */
  #keepPaths(wanted) {
    const keyed = new Map(
      wanted.map((each) => [`${each.edge.from.key} ${each.edge.to.key}`, each]),
    );
    for (const [key, path] of this.#paths) {
      if (keyed.has(key)) continue;
      path.remove();
      this.#paths.delete(key);
    }
    for (const [key, { edge, name }] of keyed) {
      const known = this.#paths.get(key);
      const path = known ?? drawing("path", { d: linePath(this.layout, edge) });
      this.#paths.set(key, path);
      if (known && path.getAttribute("class") === name) continue;
      setAttributes(path, { class: name });
      this.#lines.append(path);
    }
  }

  /** @param {readonly GraphNode[]} shown */
  #place(shown) {
    const chosen = this.layout.nodes.get(this.#chosen);
    const related = chosen && [
      chosen.key,
      ...chosen.object.references.map(graphKey),
      ...this.usersOf(chosen.key),
    ];
    const first = shown.find(({ key }) => key === this.#active) ?? shown[0];
    for (const node of shown) {
      const row = this.#rows.get(node.key)?.row;
      const button = row?.querySelector("button");
      if (!row || !button) continue;
      moveTo(row, `translate(${node.x}px, ${node.y}px)`);
      const width = `${this.layout.nodeWidth}px`;
      if (row.style.width !== width) row.style.width = width;
      setAttributes(button, {
        tabindex: node === first ? 0 : -1,
        "data-dim": related !== undefined && !related.includes(node.key),
        "aria-current": node === chosen ? "true" : undefined,
      });
    }
  }

  /** A value that changes with anything that a card shows. @param {GraphNode} node */
  #versionOf(node) {
    const names = edgesFrom(this.layout, node).map(({ to }) => titleOf(to.object));
    return JSON.stringify([node.object, names, this.usersOf(node.key).length]);
  }

  /** Whether an object is inactive, what it uses, and how many objects use it. @param {GraphNode} node */
  #saidOf(node) {
    const { key, object } = node;
    const used = this.usersOf(key).length;
    const names = edgesFrom(this.layout, node).map(({ to }) => titleOf(to.object));
    const uses = [...new Set(names)].flatMap((name) => [", ", foreignText(name)]).slice(1);
    return [
      ...(object.isActive ? [] : [["not active"]]),
      ...(uses.length > 0 ? [["uses ", ...uses]] : []),
      ...(used > 0 ? [[`used by ${used}`]] : []),
    ];
  }

  /** The card for an object. Only one fact fits on the card; the others are for screen readers. @param {GraphNode} node */
  #node(node) {
    const { key, object, column } = node;
    const [first = ["on its own"], ...rest] = this.#saidOf(node);
    const noun = this.kinds[column]?.noun ?? "";
    const button = element(
      "button",
      {
        type: "button",
        class: object.isActive ? undefined : "inactive",
        "data-key": key,
        click: () => this.choose(key),
      },
      element(
        "span",
        { class: "name", title: withoutBidi(titleOf(object)) },
        foreignText(titleOf(object)),
      ),
      element("span", { class: "hidden" }, noun),
      element("span", { class: "about" }, ...first),
      ...rest.map((said) => element("span", { class: "hidden" }, ", ", ...said)),
    );
    button.style.setProperty("--column", String(column));
    return element("div", { class: "node", role: "listitem" }, button);
  }

  /** @param {GraphNode} node */
  #reveal({ x, y }) {
    const view = this.element;
    if (y < view.scrollTop + nodeHeight) view.scrollTop = y - 2 * nodeHeight;
    else if (y + 2 * nodeHeight > view.scrollTop + view.clientHeight)
      view.scrollTop = y + 2 * nodeHeight - view.clientHeight;
    if (x < view.scrollLeft) view.scrollLeft = x - margin;
    else if (x + this.layout.nodeWidth > view.scrollLeft + view.clientWidth)
      view.scrollLeft = x + this.layout.nodeWidth + margin - view.clientWidth;
  }

  /** @param {KeyboardEvent} event */
  #follow(event) {
    const node = this.layout.nodes.get(this.#active);
    const next = node && neighbour(this.layout, node, event.key);
    if (!next) return;
    event.preventDefault();
    this.#active = next.key;
    this.#reveal(next);
    this.#render();
    this.focus();
  }
}
