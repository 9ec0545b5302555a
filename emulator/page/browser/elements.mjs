/** What may stand in an element: text is always text, whatever is in it. @typedef {Node | string | number | undefined | false} Child */

/** @typedef {(event: Event) => void} Listener */

/** @typedef {Readonly<Record<string, string | number | boolean | undefined | Listener>>} Attributes */

/** Sets only the attributes that differ, to avoid needless restyling. @param {Element} target @param {Attributes} attributes */
export const setAttributes = (target, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    const text = value === true ? "" : String(value);
    if (typeof value === "function") target.addEventListener(name, value);
    else if (value === undefined || value === false) target.removeAttribute(name);
    else if (target.getAttribute(name) !== text) target.setAttribute(name, text);
  }
};

/** Moves an element to its place, unless it is already there. @param {HTMLElement} target @param {string} transform */
export const moveTo = (target, transform) => {
  if (target.style.transform !== transform) target.style.transform = transform;
};

/** Replaces all children of an element. @param {Element} target @param {Child[]} children */
export const fill = (target, ...children) => {
  const present = children.filter((child) => child !== undefined && child !== false);
  target.replaceChildren(...present.map((each) => (each instanceof Node ? each : String(each))));
};

/**
 * An element with attributes, listeners (functions keyed by event name) and children.
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
  fill(made, ...children);
  return made;
};

/** A paragraph with a class. @param {string} name @param {Child[]} children */
export const paragraph = (name, ...children) => element("p", { class: name }, ...children);

/** A group of elements. @param {string} name a class @param {Child[]} children */
export const group = (name, ...children) => element("div", { class: name }, ...children);

/**
 * An SVG element.
 *
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @returns {SVGElementTagNameMap[T]}
 */
export const drawing = (tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(made, attributes);
  return made;
};

/** @param {string} text @param {RegExp} signs */
const escaped = (text, signs) =>
  text.replace(signs, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Text in which characters that change the writing direction are escaped. @param {string} text */
export const withoutBidi = (text) => escaped(text, /[\u202a-\u202e\u2066-\u2069]/g);

/** Human-readable JSON. @param {unknown} value */
export const inertJson = (value) =>
  escaped(JSON.stringify(value, null, 2), /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g);

/**
 * Untrusted text within a sentence, isolated so that its writing direction does not affect the rest. Characters that would end the isolation early, such as U+2069, are escaped.
 *
 * @param {string} text
 * @param {string} [sought] text to mark
 */
export const foreignText = (text, sought = "") =>
  element("bdi", {}, ...markedParts(withoutBidi(shortText(text)), sought));

/** How much of a name is enough. */
const mostOfName = 200;

/** The beginning of a string, without splitting a character. @param {string} text @param {number} most */
export const beginningOf = (text, most) =>
  text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "");

/** Text in one case, as long as before: İ would become two letters, and Σ depends on what follows. @param {string} text */
const withoutCase = (text) => text.replaceAll("İ", "i").toLowerCase().replaceAll("ς", "σ");

/** Text in which a sought text is marked wherever it occurs. @param {string} text @param {string} sought */
export const markedParts = (text, sought) => {
  const [all, part] = [withoutCase(text), withoutCase(sought)];
  if (part === "") return [text];
  /** @type {(Node | string)[]} */
  const parts = [];
  let from = 0;
  for (let at = all.indexOf(part); at >= 0; at = all.indexOf(part, from)) {
    parts.push(text.slice(from, at), element("mark", {}, text.slice(at, at + part.length)));
    from = at + part.length;
  }
  return [...parts, text.slice(from)];
};

/** A string, shortened if it is too long to show. @param {string} text */
export const shortText = (text) =>
  text.length <= mostOfName ? text : `${beginningOf(text, mostOfName)}…`;

/** Changes an element's text only if it differs, to preserve any selection in the text. @param {Element} target @param {string} text */
export const setText = (target, text) => {
  if (target.textContent !== text) target.textContent = text;
};

/** A line that reports the result of an action. */
export const statusLine = () => element("p", { class: "said", role: "status" });

/** How long it says that a text was copied, in milliseconds. */
const copiedMs = 2_000;

/**
 * A button that copies text.
 *
 * @param {string} what description of the copied text, for screen readers
 * @param {() => string | Promise<string>} text
 * @param {Element} said where a failure is reported
 */
export const copyButton = (what, text, said) => {
  const button = element("button", { type: "button", "aria-label": `Copy ${what}` }, "Copy");
  const copy = async () => {
    setText(said, "");
    try {
      await navigator.clipboard.writeText(await text());
      setText(button, "Copied");
      setTimeout(() => setText(button, "Copy"), copiedMs);
    } catch (error) {
      setText(said, `Not copied: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  button.addEventListener("click", () => void copy());
  return button;
};

/** How much of a text is shown at once; the rest follows on request. */
const mostText = 4_000;

/** Text that may be long: the beginning, and the rest on request. @param {"p" | "pre"} tag @param {string} text @param {Attributes} [attributes] @param {string} [sought] text to mark */
export const wholeText = (tag, text, attributes = { class: "text", dir: "auto" }, sought = "") => {
  if (text === "") return [];
  const beginning = beginningOf(text, mostText);
  const rest = markedParts(text.slice(beginning.length), sought);
  const shown = element(tag, attributes, ...markedParts(beginning, sought));
  if (beginning === text) return [shown];
  shown.append("…");
  const more = element(
    "summary",
    {},
    `${countText(text.length - beginning.length)} more characters`,
  );
  const open = rest.length > 1;
  return [shown, element("details", { open }, more, element(tag, attributes, ...rest))];
};

/**
 * A form handled by a function; the browser submits nothing.
 *
 * @param {Attributes} attributes
 * @param {() => void} submit
 * @param {Child[]} children
 */
export const formOf = (attributes, submit, ...children) => {
  const form = element("form", attributes, ...children);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return form;
};

let labels = 0;

/**
 * A control with its label, and a hint below it.
 *
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export const labelled = (label, control, hint) => {
  labels += 1;
  const id = `control-${labels}`;
  const said = hint && element("p", { class: "hint", id: `${id}-hint` }, hint);
  setAttributes(control, { id, "aria-describedby": said ? said.id : undefined });
  return group("field", element("label", { for: id }, label), control, said);
};

/** @typedef {readonly (string | readonly [value: string, label: string])[]} Options */

/** Offers options to choose from. The selected option stays selected if it is still offered. @param {HTMLSelectElement} control @param {Options} options */
export const offer = (control, options) => {
  const { value: before } = control;
  const pairs = options.map((each) => (typeof each === "string" ? [each, each] : each));
  fill(
    control,
    ...pairs.map(([value, label]) => element("option", { value, dir: "auto" }, withoutBidi(label))),
  );
  const isThere = pairs.some(([value]) => value === before);
  control.value = isThere ? before : (pairs[0]?.[0] ?? "");
};

/** A list of options to choose from. @param {Options} [options] */
export const choice = (options = []) => {
  const control = element("select");
  offer(control, options);
  return control;
};

/** Whether the words contain the search text. @param {string} sought @param {string[]} words */
export const isFound = (sought, ...words) =>
  sought === "" || withoutCase(words.join(" ")).includes(withoutCase(sought.trim()));

/**
 * A search field and filters above a list, with the number of matches.
 *
 * @param {object} options
 * @param {string} options.noun what the list contains
 * @param {string | readonly Child[]} options.nothing shown if the list is empty
 * @param {readonly [label: string, placeholder: string]} options.search
 * @param {Readonly<Record<string, Options>>} [options.choices] by their labels
 * @param {() => void} changed
 */
export const filterBar = ({ noun, nothing, search: [label, example], choices = {} }, changed) => {
  const text = element("input", {
    type: "search",
    placeholder: example,
    autocomplete: "off",
    maxlength: 200,
  });
  const chosen = Object.entries(choices).map(([title, options]) => ({
    title,
    control: choice(options),
  }));
  const count = paragraph("count");
  const bar = formOf(
    { class: "filters" },
    () => {},
    labelled(label, text),
    ...chosen.map(({ title, control }) => labelled(title, control)),
    count,
  );
  bar.addEventListener("input", changed);
  const empty = group("empty");
  return {
    element: bar,
    /** Says why nothing is shown. */
    empty,
    /** The search text and the choices. */
    values: () => [text.value, ...chosen.map(({ control }) => control.value)],
    /** Offers other values of a choice, and takes one of them. @param {string} title @param {Options} options @param {string} [value] if omitted, the selection stays */
    offer: (title, options, value) => {
      const control = chosen.find((each) => each.title === title)?.control;
      if (!control) return;
      offer(control, options);
      if (value !== undefined) control.value = value;
    },
    /** Says how much is shown. @param {number} shown @param {number} total @param {string} [said] instead */
    count: (shown, total, said) => {
      const all = counted(total, noun);
      setText(count, said ?? (shown === total ? all : `${countText(shown)} of ${all}`));
      const none = shown === 0 ? ["Nothing matches the filters."] : [];
      const state = total === 0 ? "nothing" : none.join("");
      // What is there may have the focus.
      if (empty.dataset.state !== state) fill(empty, ...(total === 0 ? [nothing].flat() : none));
      empty.dataset.state = state;
    },
  };
};

/** @typedef {readonly [key: string, version: unknown, make: () => HTMLElement]} WantedRow */

/** The rows of a container by their keys. @typedef {Map<string, { readonly version: unknown, readonly row: HTMLElement }>} Rows */

/**
 * Keeps one element for each key, in the given order. Elements whose version has not changed are not touched, which preserves focus and selection.
 *
 * @param {HTMLElement} container
 * @param {Rows} rows those there are; is changed
 * @param {readonly WantedRow[]} wanted
 */
export const keepRows = (container, rows, wanted) => {
  const keys = new Set(wanted.map(([key]) => key));
  const active = document.activeElement;
  const focused = [...rows].find(([, { row }]) => row.contains(active))?.[0] ?? "";
  for (const [key, { row }] of rows)
    if (!keys.has(key)) {
      row.remove();
      rows.delete(key);
    }
  wanted.forEach(([key, version, make], place) => {
    const known = rows.get(key);
    const row = known && known.version === version ? known.row : make();
    if (known && known.row !== row) known.row.replaceWith(row);
    rows.set(key, { version, row });
    const there = container.children[place] ?? null;
    if (there !== row) container.insertBefore(row, there);
  });
  refocus(rows.get(focused)?.row, active);
};

/**
 * A row that was moved or rebuilt has lost the focus. @param {HTMLElement | undefined} row @param
 * {Element | null} active
 */
const refocus = (row, active) => {
  if (!row || row.contains(document.activeElement)) return;
  const control = active && row.contains(active) ? active : row.querySelector("a, button");
  if (control instanceof HTMLElement) control.focus({ preventScroll: true });
};

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const whole = new Intl.NumberFormat("en");

/**
 * A time in words; anything else unchanged. @param {Intl.DateTimeFormat} format @param {string |
 * number} time
 */
const timeText = (format, time) => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : format.format(date);
};

/** The time, such as `09:30:05`, in this machine's time zone. @param {string | number} time */
export const clockTime = (time) => timeText(clock, time);

/** Date and time in this machine's format. @param {string | number} time */
export const dayTime = (time) => timeText(dayAndClock, time);

/** A formatted number, such as `12,345`. @param {number} count */
export const countText = (count) => whole.format(count);

/** A count with its noun, such as `1 call` or `2 calls`. @param {number} count @param {string} noun */
export const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Rows beyond the visible ones, on each side. */
const spare = 8;

/**
 * The visible rows.
 *
 * @param {{ readonly top: number, readonly height: number, readonly rowHeight: number, readonly count: number }} view
 * @returns {{ readonly from: number, readonly to: number }} `to` is not among them
 */
export const visibleRows = ({ top, height, rowHeight, count }) => {
  const from = Math.max(0, Math.floor(top / rowHeight) - spare);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + spare);
  return { from: Math.min(from, Math.max(0, to)), to };
};

/** How far a key leads in a list, by its name. @type {Readonly<Record<string, number>>} */
const keySteps = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

/** What a list shows. @template T @typedef {{ readonly length: number, readonly at: (place: number) => T | undefined }} Items */

/**
 * A list that renders only the visible rows, so that ten thousand rows render as fast as ten.
 *
 * @template T
 * @param {object} options
 * @param {number} options.rowHeight in pixels
 * @param {(item: T) => HTMLElement} options.make
 * @param {(item: T) => string} options.keyOf
 * @param {(place: number, count: number) => Attributes} options.position a row's position, for screen readers
 * @param {Attributes} options.attributes of the element that scrolls
 * @param {string} options.role of the element that contains the rows
 * @param {HTMLElement} [options.head] stays at the top
 * @param {(key: string) => number} [options.placeOf] where the row of a key stands; below 0: nowhere. With it the list is one
 *   stop of the Tab key, at the link of a row, and keys lead on from row to row
 */
export const virtualList = ({
  rowHeight,
  make,
  keyOf,
  position,
  attributes,
  role,
  head,
  placeOf,
}) => {
  const body = element("div", { class: "rows", role });
  const stop = placeOf ? undefined : 0;
  const scroller = element("div", { ...attributes, class: "scroller", tabindex: stop }, head, body);
  /** @type {Rows} */
  const rows = new Map();
  /** @type {Items<T>} */
  let items = [];
  let waiting = false;
  /** The row that the Tab key leads to. */
  let active = "";

  const render = () => {
    waiting = false;
    const [top, height] = [scroller.scrollTop, scroller.clientHeight || 600];
    const { from, to } = visibleRows({ top, height, rowHeight, count: items.length });
    const places = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
    const stays = placeOf && active !== "" ? placeOf(active) : -1;
    // The row that has the focus stays, wherever the person scrolls to.
    if (stays >= to) places.push(stays);
    else if (stays >= 0 && stays < from) places.unshift(stays);
    const wanted = places.flatMap((place) => {
      const item = items.at(place);
      if (item === undefined) return [];
      return [/** @type {WantedRow} */ ([keyOf(item), item, () => make(item)])];
    });
    keepRows(body, rows, wanted);
    [...body.children].forEach((row, index) => {
      const place = places[index] ?? 0;
      if (row instanceof HTMLElement) moveTo(row, `translateY(${place * rowHeight}px)`);
      setAttributes(row, position(place, items.length));
      if (!placeOf) return;
      const isStop = stays < 0 ? index === 0 : place === stays;
      setAttributes(row.querySelector("a") ?? row, { tabindex: isStop ? 0 : -1 });
    });
  };

  const later = () => {
    if (!waiting) requestAnimationFrame(render);
    waiting = true;
  };
  scroller.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(scroller);

  /** @param {number} place */
  const reveal = (place) => {
    const top = place * rowHeight;
    const room = scroller.clientHeight - (head?.offsetHeight ?? 0) - rowHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
  };

  /** @param {string} key */
  const activate = (key) => {
    active = key;
    render();
    rows.get(key)?.row.querySelector("a")?.focus({ preventScroll: true });
  };

  if (placeOf) {
    body.addEventListener("focusin", ({ target }) => {
      const found = [...rows].find(([, { row }]) => target instanceof Node && row.contains(target));
      active = found?.[0] ?? active;
    });
    body.addEventListener("keydown", (event) => {
      const { [event.key]: step } = keySteps;
      if (step === undefined || items.length === 0) return;
      event.preventDefault();
      const place = Math.min(items.length - 1, Math.max(0, placeOf(active) + step));
      const item = items.at(place);
      reveal(place);
      if (item !== undefined) activate(keyOf(item));
    });
    // All of a row is to be clicked on, but its text can still be selected.
    body.addEventListener("click", ({ target }) => {
      const row = target instanceof Element && !target.closest("a") && target.closest(".row");
      if (row && getSelection()?.isCollapsed !== false) row.querySelector("a")?.click();
    });
  }

  return {
    element: scroller,
    /** Puts the focus back to the row that had it. */
    focus: () => activate(active),
    /**
     * Shows other items.
     *
     * @param {Items<T>} next
     * @param {number} [above] rows added at the top: the rows in view stay where they are
     */
    show: (next, above = 0) => {
      items = next;
      scroller.hidden = items.length === 0;
      body.style.height = `${items.length * rowHeight}px`;
      if (above > 0 && scroller.scrollTop > 0) scroller.scrollTop += above * rowHeight;
      render();
    },
  };
};
