import { element, keepRows, setAttributes } from "./elements.mjs";

/** Rows beyond the visible ones, on each side. */
const spare = 8;

/**
 * Which rows can be seen.
 *
 * @param {{ readonly top: number, readonly height: number, readonly rowHeight: number, readonly count: number }} view
 * @returns {{ readonly from: number, readonly to: number }} `to` is not among them
 */
export const visibleRows = ({ top, height, rowHeight, count }) => {
  const from = Math.max(0, Math.floor(top / rowHeight) - spare);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  return { from: Math.min(from, Math.max(0, to)), to };
};

/**
 * A list of which only the rows in sight are elements, so that ten thousand are as quick as ten.
 *
 * @template T
 * @param {object} options
 * @param {number} options.rowHeight in pixels
 * @param {(item: T) => HTMLElement} options.make
 * @param {(item: T, place: number) => string} options.keyOf
 * @param {(place: number, count: number) => import("./elements.mjs").Attributes} options.position where a row stands, for those who listen
 * @param {import("./elements.mjs").Attributes} options.attributes of the element that scrolls
 * @param {import("./elements.mjs").Attributes} [options.inner] of the element that holds the rows
 * @param {HTMLElement} [options.head] stays at the top
 */
export const virtualList = (options) => {
  const { rowHeight, make, keyOf, position, attributes, inner = {}, head } = options;
  const body = element("div", { class: "rows", ...inner });
  const scroller = element("div", { ...attributes, class: "scroller", tabindex: 0 }, head, body);
  /** @type {Map<string, { readonly item: T, readonly row: HTMLElement }>} */
  const rows = new Map();
  /** @type {readonly T[]} */
  let items = [];
  let waiting = false;

  const render = () => {
    waiting = false;
    const height = scroller.clientHeight || 600;
    const { from, to } = visibleRows({
      top: scroller.scrollTop,
      height,
      rowHeight,
      count: items.length,
    });
    const wanted = items
      .slice(from, to)
      .map((item, place) => /** @type {const} */ ([keyOf(item, from + place), item]));
    keepRows(body, rows, wanted, make);
    wanted.forEach(([key], place) => {
      const row = rows.get(key)?.row;
      if (!row) return;
      row.style.transform = `translateY(${(from + place) * rowHeight}px)`;
      setAttributes(row, position(from + place, items.length));
    });
  };

  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(render);
  };
  scroller.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(scroller);

  return {
    element: scroller,
    /**
     * Shows other items.
     *
     * @param {readonly T[]} next
     * @param {number} [above] rows that came at the top: what is read stays where it is
     */
    show: (next, above = 0) => {
      items = next;
      body.style.height = `${items.length * rowHeight}px`;
      if (above > 0 && scroller.scrollTop > 0) scroller.scrollTop += above * rowHeight;
      render();
    },
  };
};
