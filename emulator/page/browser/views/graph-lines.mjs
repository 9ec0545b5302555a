import { drawing, fill, setAttributes } from "../elements.mjs";
import { edgesFrom, linePath } from "../graph-layout.mjs";

/** @import { GraphEdge, GraphLayout, GraphNode } from "../graph-layout.mjs" */

/** More lines at once say nothing. */
const mostEdges = 600;

/** Every line to and from a node. @param {GraphLayout} layout @param {GraphNode} node @param {readonly string[]} users keys of those that refer to it */
const linesAt = (layout, node, users) => [
  ...edgesFrom(layout, node),
  ...users.flatMap((key) => {
    const from = layout.nodes.get(key);
    return from ? [{ from, to: node }] : [];
  }),
];

/** The part of the drawing that is in sight. */
export class GraphLines {
  element = drawing("svg", { class: "lines", "aria-hidden": "true" });

  /**
   * @param {GraphLayout} layout
   * @param {{ readonly seen: readonly GraphNode[], readonly top: number, readonly height: number }} window
   * @param {GraphNode | undefined} chosen its lines are drawn over all others
   * @param {readonly string[]} users keys of those that refer to the chosen one
   */
  draw(layout, { seen, top, height }, chosen, users) {
    const { width, isStacked } = layout;
    setAttributes(this.element, { width, height, viewBox: `0 ${top} ${width} ${height}` });
    this.element.style.top = `${top}px`;
    if (isStacked) return fill(this.element);
    const strong = chosen ? linesAt(layout, chosen, users) : [];
    const others = seen
      .filter((node) => node !== chosen)
      .flatMap((node) => edgesFrom(layout, node))
      .filter(({ to }) => to !== chosen);
    const paths = (/** @type {readonly GraphEdge[]} */ edges, /** @type {string} */ name) =>
      edges
        .slice(0, mostEdges)
        .map((edge) => drawing("path", { class: name, d: linePath(layout, edge) }));
    fill(this.element, ...paths(others, chosen ? "faint" : "plain"), ...paths(strong, "strong"));
  }
}
