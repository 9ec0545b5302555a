import { element, fill, foreignText, keepRows, setAttributes, shortText } from "../elements.mjs";
import {
  graphKey,
  layOut,
  neighbour,
  nodeHeight,
  nodesBetween,
  usersByKey,
} from "../graph-layout.mjs";
import { countText } from "../times.mjs";
import { GraphLines } from "./graph-lines.mjs";

/** @import { GraphObject } from "../../account-graph.js" */
/** @import { GraphHeading, GraphNode, Kind } from "../graph-layout.mjs" */

/** Rendered beyond what is in sight, in pixels. */
const spare = 400;

/** What an object is called; its id where it has no name. @param {GraphObject} object */
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

/** The drawing of the account: a column for each kind, lines from what is referred to. */
export class GraphView {
  #headings = element("div", { class: "kinds" });
  #lines = new GraphLines();
  #nodes = element("div", { class: "nodes", role: "list", "aria-label": "Objects of the account" });
  #canvas = element("div", { class: "canvas" }, this.#headings, this.#lines.element, this.#nodes);
  element = element(
    "div",
    { class: "scroller graph", role: "region", "aria-label": "Graph" },
    this.#canvas,
  );
  /** @type {Map<string, { readonly item: GraphNode, readonly row: HTMLElement }>} */
  #rows = new Map();
  /** @type {readonly GraphObject[]} */
  #objects = [];
  /** @type {ReadonlyMap<string, readonly string[]>} */
  #users = new Map();
  #chosen = "";
  /** The one that the Tab key leads to. */
  #active = "";
  #width = 0;
  #height = 0;
  #isWaiting = false;

  /** @param {readonly Kind[]} kinds in set-up order @param {(key: string) => void} choose */
  constructor(kinds, choose) {
    this.kinds = kinds;
    this.choose = choose;
    this.layout = layOut(kinds, [], 1000);
    this.#nodes.addEventListener("keydown", (event) => this.#follow(event));
    this.#nodes.addEventListener("focusin", ({ target }) => {
      if (target instanceof HTMLElement && target.dataset.key) this.#active = target.dataset.key;
    });
    this.element.addEventListener("scroll", () => this.#later(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(this.element);
  }

  /** @param {readonly GraphObject[]} objects */
  show(objects) {
    this.#objects = objects;
    this.#users = usersByKey(objects);
    this.#arrange();
  }

  /** Marks an object and what belongs to it; an empty key: none. @param {string} key */
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

  /** Leads the keyboard back to the object where it was last. */
  focus() {
    this.#rows.get(this.#active)?.row.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Keys of the objects that refer to one. @param {string} key */
  usersOf(key) {
    return this.#users.get(key) ?? [];
  }

  /** What is chosen stays in sight, unless it was scrolled away from. */
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
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${height}px`;
    this.#canvas.classList.toggle("stacked", isStacked);
    fill(this.#headings, ...headings.map((heading) => headingOf(heading, nodeWidth)));
    this.#render();
  }

  #later() {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => this.#render());
  }

  #render() {
    this.#isWaiting = false;
    const { clientHeight } = this.element;
    // What was scrolled to may be below the end of what is to be drawn now.
    const end = Math.max(0, this.layout.height - clientHeight);
    const scrollTop = Math.min(this.element.scrollTop, end);
    const top = Math.max(0, scrollTop - spare);
    const bottom = Math.min(this.layout.height, scrollTop + (clientHeight || 700) + spare);
    const seen = nodesBetween(this.layout, top, bottom);
    const active = this.layout.nodes.get(this.#active);
    // What has the focus stays, wherever it was scrolled to.
    const shown = active && !seen.includes(active) ? [...seen, active] : seen;
    const wanted = shown.map((node) => /** @type {const} */ ([node.key, node]));
    keepRows(this.#nodes, this.#rows, wanted, (node) => this.#node(node));
    this.#place(shown);
    const chosen = this.layout.nodes.get(this.#chosen);
    const users = this.usersOf(this.#chosen);
    this.#lines.draw(this.layout, { seen, top, height: bottom - top }, chosen, users);
  }

  /** @param {readonly GraphNode[]} shown */
  #place(shown) {
    const chosen = this.layout.nodes.get(this.#chosen);
    const near = chosen && [
      chosen.key,
      ...chosen.object.references.map(graphKey),
      ...this.usersOf(chosen.key),
    ];
    const related = near && new Set(near);
    const first = shown.find(({ key }) => key === this.#active) ?? shown[0];
    for (const node of shown) {
      const row = this.#rows.get(node.key)?.row;
      const button = row?.querySelector("button");
      if (!row || !button) continue;
      row.style.transform = `translate(${node.x}px, ${node.y}px)`;
      row.style.width = `${this.layout.nodeWidth}px`;
      button.tabIndex = node === first ? 0 : -1;
      button.toggleAttribute("data-dim", related !== undefined && !related.has(node.key));
      setAttributes(button, { "aria-current": node === chosen ? "true" : undefined });
    }
  }

  /** What an object uses, and how many use it. @param {GraphNode} node */
  #saidOf({ key, object }) {
    const used = this.usersOf(key).length;
    const names = object.references.flatMap((reference) => {
      const node = this.layout.nodes.get(graphKey(reference));
      return node ? [titleOf(node.object)] : [];
    });
    const uses = [...new Set(names)].flatMap((name) => [", ", foreignText(name)]).slice(1);
    return [
      ...(object.isActive ? [] : [["not active"]]),
      ...(uses.length > 0 ? [["uses ", ...uses]] : []),
      ...(used > 0 ? [[`used by ${used}`]] : []),
    ];
  }

  /** There is room for one thing that is said; the rest is for those who listen. @param {GraphNode} node */
  #node(node) {
    const { key, object, column } = node;
    const [first = ["on its own"], ...rest] = this.#saidOf(node);
    const noun = this.kinds[column]?.noun ?? "";
    const button = element(
      "button",
      {
        type: "button",
        class: object.isActive ? undefined : "inactive",
        "data-column": column,
        "data-key": key,
        click: () => this.choose(key),
      },
      element("span", { class: "name", title: titleOf(object) }, foreignText(titleOf(object))),
      element("span", { class: "hidden" }, noun),
      element("span", { class: "said" }, ...first),
      ...rest.map((said) => element("span", { class: "hidden" }, ", ", ...said)),
    );
    return element("div", { class: "node", role: "listitem" }, button);
  }

  /** @param {GraphNode} node */
  #reveal({ x, y }) {
    const view = this.element;
    if (y < view.scrollTop + nodeHeight) view.scrollTop = y - 2 * nodeHeight;
    else if (y + 2 * nodeHeight > view.scrollTop + view.clientHeight)
      view.scrollTop = y + 2 * nodeHeight - view.clientHeight;
    if (x < view.scrollLeft) view.scrollLeft = x - 16;
    else if (x + this.layout.nodeWidth > view.scrollLeft + view.clientWidth)
      view.scrollLeft = x + this.layout.nodeWidth + 16 - view.clientWidth;
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
    this.#rows.get(next.key)?.row.querySelector("button")?.focus({ preventScroll: true });
  }
}
