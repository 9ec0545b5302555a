/** What may stand in an element: text is always text, whatever is in it. @typedef {Node | string | number | undefined | false} Child */

/** @typedef {(event: Event) => void} Listener */

/** @typedef {Readonly<Record<string, string | number | boolean | undefined | Listener>>} Attributes */

/** @param {Element} target @param {Attributes} attributes */
export const setAttributes = (target, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") target.addEventListener(name, value);
    else if (value === undefined || value === false) target.removeAttribute(name);
    else target.setAttribute(name, value === true ? "" : String(value));
  }
};

/** @param {readonly Child[]} children */
const present = (children) =>
  children.flatMap((child) =>
    child === undefined || child === false ? [] : [child instanceof Node ? child : String(child)],
  );

/**
 * An element with attributes, listeners (a function under the name of its event) and children.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...present(children));
  return made;
};

/**
 * An element of a drawing.
 *
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @returns {SVGElementTagNameMap[T]}
 */
export const drawing = (tag, attributes = {}) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(made, attributes);
  return made;
};

/**
 * What somebody else wrote, within a sentence: its direction of writing, and characters that turn it,
 * end with it.
 *
 * @param {string} text
 */
export const foreignText = (text) => element("bdi", {}, shortText(text));

/** JSON for people: characters that would turn the direction of its lines stand as escapes. @param {unknown} value */
export const inertJson = (value) =>
  JSON.stringify(value, null, 2).replace(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** So much of a name says enough. */
const mostOfName = 200;

/** The beginning of a text, never half of a character. @param {string} text @param {number} most */
export const beginningOf = (text, most) =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

/** A text that may be longer than anybody reads. @param {string} text */
export const shortText = (text) =>
  text.length <= mostOfName ? text : `${beginningOf(text, mostOfName)}…`;

/** Puts other children in the place of all. @param {Element} target @param {Child[]} children */
export const fill = (target, ...children) => target.replaceChildren(...present(children));

/** Changes a text only if it differs, so that a selection in it stays. @param {Element} target @param {string} text */
export const setText = (target, text) => {
  if (target.textContent !== text) target.textContent = text;
};

let labels = 0;

/**
 * A control with its label, and what is said of it below.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export const labelled = (label, control, hint) => {
  labels += 1;
  const id = `control-${labels}`;
  control.id = id;
  const said =
    hint === undefined ? undefined : element("p", { class: "hint", id: `${id}-hint` }, hint);
  if (said) control.setAttribute("aria-describedby", said.id);
  return element("div", { class: "field" }, element("label", { for: id }, label), control, said);
};

/**
 * A choice between texts.
 *
 * @param {readonly (string | readonly [value: string, label: string])[]} options
 * @param {Attributes} [attributes]
 */
export const choice = (options, attributes) =>
  element("select", attributes, ...options.map(optionOf));

/** @param {string | readonly [value: string, label: string]} option */
export const optionOf = (option) => {
  const [value, label] = typeof option === "string" ? [option, option] : option;
  return element("option", { value }, label);
};

/**
 * Keeps one element for each key, in the order given; those that stay are not touched, so that
 * focus and selection stay, too.
 *
 * @template T
 * @param {HTMLElement} container
 * @param {Map<string, { readonly item: T, readonly row: HTMLElement }>} rows those there are; is changed
 * @param {readonly (readonly [key: string, item: T])[]} wanted
 * @param {(item: T) => HTMLElement} make
 */
export const keepRows = (container, rows, wanted, make) => {
  const keys = new Set(wanted.map(([key]) => key));
  const active = document.activeElement;
  const focused = [...rows].find(([, { row }]) => row.contains(active))?.[0] ?? "";
  for (const [key, { row }] of rows)
    if (!keys.has(key)) {
      row.remove();
      rows.delete(key);
    }
  wanted.forEach(([key, item], place) => {
    const known = rows.get(key);
    const row = known?.item === item ? known.row : make(item);
    if (known && known.row !== row) known.row.replaceWith(row);
    rows.set(key, { item, row });
    const there = container.children[place] ?? null;
    if (there !== row) container.insertBefore(row, there);
  });
  refocus(rows.get(focused)?.row, active);
};

/** A row that was moved or made anew lost the focus. @param {HTMLElement | undefined} row @param {Element | null} active */
const refocus = (row, active) => {
  if (!row || row.contains(document.activeElement)) return;
  const target = active instanceof HTMLElement && row.contains(active) ? active : firstControl(row);
  target?.focus({ preventScroll: true });
};

/** @param {HTMLElement} row */
const firstControl = (row) =>
  row.matches("a, button")
    ? row
    : /** @type {HTMLElement | null} */ (row.querySelector("a, button"));

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const whole = new Intl.NumberFormat("en");

/** A time in words; what is no time, as it came. @param {Intl.DateTimeFormat} format @param {string | number} time */
const timeText = (format, time) => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : format.format(date);
};

/** `09:30:05`, in the time zone of this machine. @param {string | number} time */
export const clockTime = (time) => timeText(clock, time);

/** Day and time as this machine writes them. @param {string | number} time */
export const dayTime = (time) => timeText(dayAndClock, time);

/** `12,345` @param {number} count */
export const countText = (count) => whole.format(count);

/** `1 call`, `2 calls` @param {number} count @param {string} noun */
export const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `12 of 10,000 calls`, or how many there are if all of them are meant. @param {number} some @param {number} all @param {string} noun */
export const shareText = (some, all, noun) =>
  some === all ? counted(all, noun) : `${countText(some)} of ${counted(all, noun)}`;

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
 * @param {(place: number, count: number) => Attributes} options.position where a row stands, for those who listen
 * @param {Attributes} options.attributes of the element that scrolls
 * @param {Attributes} [options.inner] of the element that holds the rows
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
