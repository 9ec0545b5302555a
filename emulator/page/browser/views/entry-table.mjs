import { element, foreignText, setText, shortText } from "../elements.mjs";
import { shareText } from "../times.mjs";
import { virtualList } from "../virtual-list.mjs";

/**
 * @template T
 * @typedef {object} Column
 * @property {string} title
 * @property {string} [kind] a class of its cells
 * @property {(entry: T) => string} text
 * @property {(entry: T) => string | undefined} [tone] how a cell is coloured, beside its text
 */

/** @template T @typedef {{ readonly place: number, readonly entry: T }} PlacedEntry */

/**
 * @template T
 * @param {readonly Column<T>[]} columns
 * @param {T} entry
 */
const cellsOf = (columns, entry) =>
  columns.map(({ kind, text, tone }) => {
    const said = shortText(text(entry));
    const attributes = { role: "cell", class: kind, title: said, "data-tone": tone?.(entry) };
    return element("span", attributes, foreignText(said));
  });

/**
 * A table of a growing list, what is new at its top, with filters above it.
 *
 * @template T
 * @param {object} options
 * @param {string} options.label
 * @param {string} options.noun what an entry is
 * @param {string} options.kind a class of the table, which has its columns' widths
 * @param {readonly Column<T>[]} options.columns
 * @param {readonly HTMLElement[]} options.filters
 * @param {(entry: T) => boolean} options.fits whether an entry passes the filters
 * @param {string} options.nothing what is said where there is no entry yet
 */
export const entryTable = ({ label, noun, kind, columns, filters, fits, nothing }) => {
  const head = element(
    "div",
    { class: "row head", role: "rowgroup" },
    element(
      "div",
      { role: "row" },
      ...columns.map(({ title, kind: name }) =>
        element("span", { role: "columnheader", class: name }, title),
      ),
    ),
  );
  const list = virtualList({
    rowHeight: 30,
    head,
    attributes: { role: "table", "aria-label": label },
    inner: { role: "rowgroup" },
    keyOf: (/** @type {PlacedEntry<T>} */ { place }) => String(place),
    position: (place) => ({ "aria-rowindex": place + 2 }),
    make: ({ entry }) => element("div", { class: "row", role: "row" }, ...cellsOf(columns, entry)),
  });
  const count = element("p", { class: "count" });
  const empty = element("p", { class: "empty" });
  const view = element(
    "div",
    { class: `entries ${kind}` },
    element(
      "form",
      { class: "filters", submit: (event) => event.preventDefault() },
      ...filters,
      count,
    ),
    empty,
    list.element,
  );
  /** @type {Map<T, PlacedEntry<T>>} */
  let placed = new Map();
  let newest = -1;
  /** @type {readonly T[] | undefined} Those that are shown; none where the filters have changed since. */
  let shown;

  return {
    element: view,
    /** @param {import("../page-state.mjs").GrowingList<T>} growing */
    update: ({ first, entries }) => {
      if (entries === shown) return;
      shown = entries;
      const before = placed;
      placed = new Map();
      /** @type {PlacedEntry<T>[]} */
      const found = [];
      entries.forEach((entry, index) => {
        if (!fits(entry)) return;
        const known = before.get(entry) ?? { place: first + index, entry };
        placed.set(entry, known);
        found.push(known);
      });
      found.reverse();
      const above = newest < 0 ? 0 : found.findIndex(({ place }) => place <= newest);
      newest = first + entries.length - 1;
      list.element.setAttribute("aria-rowcount", String(found.length + 1));
      list.element.hidden = found.length === 0;
      setText(
        empty,
        entries.length === 0 ? nothing : found.length === 0 ? "None fits the filters." : "",
      );
      setText(count, shareText(found.length, entries.length, noun));
      list.show(found, Math.max(0, above));
    },
    /** The filters have changed. */
    rewind: () => {
      list.element.scrollTop = 0;
      newest = -1;
      shown = undefined;
    },
  };
};
