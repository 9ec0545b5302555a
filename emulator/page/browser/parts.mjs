import { counted, countText, inertJson, isFound, shortText, withoutBidi } from "./texts.mjs";
import { useMemo, useState } from "./vendor/hooks.mjs";
import htm from "./vendor/htm.mjs";
import { h } from "./vendor/preact.mjs";

/** @import { ComponentChildren } from "preact" */
/** @import { Known } from "./emulator.mjs" */

export const html = htm.bind(h);

/** What a view gets: what is known, the part of the address after the view's name. @typedef {{ readonly known: Known, readonly rest: readonly string[], readonly lookNow: () => void }} Page */

/** An address of this page. @param {string} view @param {readonly string[]} steps */
export const linkTo = (view, ...steps) => `#${[view, ...steps].map(encodeURIComponent).join("/")}`;

/** Untrusted text within a sentence: its writing direction does not affect the rest. @param {{ readonly text: string }} props */
export const ForeignText = ({ text }) => html`<bdi>${shortText(text)}</bdi>`;

/** Code that can be scrolled. @param {{ readonly label: string, readonly value: unknown }} props `value`: text, or what is shown as JSON */
export const Code = ({ label, value }) =>
  html`<pre tabindex="0" role="group" aria-label=${label} dir="ltr">
    ${typeof value === "string" ? withoutBidi(value) : inertJson(value)}
  </pre>`;

/** A control with its label. @param {{ readonly label: string, readonly children: ComponentChildren }} props */
export const LabelledField = ({ label, children }) =>
  html`<label class="field"><span>${label}</span>${children}</label>`;

/** Handles what a person types or chooses. @param {(value: string) => void} change */
export const onValue = (change) => (/** @type {{ currentTarget: { value: string } }} */ event) =>
  change(event.currentTarget.value);

/**
 * Options to choose from, in a form.
 *
 * @param {{ readonly label: string, readonly value: string, readonly options: readonly (readonly [value: string, label: string])[], readonly change: (value: string) => void }} props
 */
export const Choice = ({ label, value, options, change }) => html`<${LabelledField} label=${label}>
  <select value=${value} onInput=${onValue(change)}>
    ${options.map(([each, text]) => html`<option key=${each} value=${each}>${withoutBidi(text)}</option>`)}
  </select>
<//>`;

/** Arrow keys, Home, and End lead from row to row, as the rows are one stop of the Tab key. @param {KeyboardEvent & { currentTarget: HTMLElement }} event */
const moveFocus = (event) => {
  const links = [...event.currentTarget.querySelectorAll("a")];
  const place = links.indexOf(/** @type {HTMLAnchorElement} */ (event.target));
  /** @type {Readonly<Record<string, number>>} */
  const places = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: links.length - 1 };
  const { [event.key]: next } = places;
  if (place < 0 || next === undefined) return;
  event.preventDefault();
  links[next]?.focus();
};

/** The chosen one, beside its list. Closing it leads back to the list. @param {{ readonly label: string, readonly title: string, readonly close: string, readonly children: ComponentChildren }} props */
export const Details = ({ label, title, close, children }) => {
  const goBack = () => {
    const chosen = document.querySelector(".scroller [aria-current]");
    if (chosen instanceof HTMLElement) chosen.focus();
  };
  const leave = (/** @type {KeyboardEvent} */ { key }) => {
    if (key !== "Escape") return;
    goBack();
    location.hash = close;
  };
  return html`<aside class="details" aria-label=${label} onKeyDown=${leave}>
    <div class="bar">
      <h2><${ForeignText} text=${title} /></h2>
      <a class="button" href=${close} onClick=${goBack}>Close</a>
    </div>
    ${children}
  </aside>`;
};

/** As many rows as are drawn at once; the rest follows on request. */
const rowsAtOnce = 200;

/** A column: a class of its cells, their text, and how that is coloured. @template T @typedef {readonly [title: string, kind: string, show: (item: T) => string | number, tone?: (item: T) => string | undefined]} Column */

/**
 * A table of items, one stop of the Tab key.
 *
 * @template T
 * @param {object} props
 * @param {string} props.label also a class
 * @param {readonly T[]} props.items
 * @param {readonly Column<T>[]} props.columns a cell of the class `wide` leads to the item's details
 * @param {(item: T) => string} [props.href] of its details
 * @param {string | false} [props.empty] said in place of rows
 */
export const Table = ({ label, items, columns, href, empty }) => {
  const [most, setMost] = useState(rowsAtOnce);
  const { hash } = location;
  const draw = (/** @type {T} */ item, /** @type {number} */ index) => {
    const link = href?.(item);
    const current = link === hash ? "true" : undefined;
    const cells = columns.map(([, kind, show, tone]) => {
      const text = String(show(item));
      const cell = html`<${ForeignText} text=${text} />`;
      const tabindex = current || index === 0 ? 0 : -1;
      const linked = html`<a href=${link} tabindex=${tabindex} aria-current=${current}>${cell}</a>`;
      return html`<td class=${kind} data-tone=${tone?.(item)} title=${shortText(text)}>
        ${link && kind.startsWith("wide") ? linked : cell}
      </td>`;
    });
    return html`<tr key=${link ?? index} class=${current && "chosen"}>${cells}</tr>`;
  };
  const rows = useMemo(() => items.slice(0, most).map(draw), [items, most, hash]);
  const titles = columns.map(([title, kind]) => html`<th scope="col" class=${kind}>${title}</th>`);
  const more = () => setMost(most + rowsAtOnce);
  return html`<div class="scroller" tabindex=${href ? undefined : 0} role="region" aria-label=${label} onKeyDown=${moveFocus}>
    <table class=${label} aria-label=${label}><thead><tr>${titles}</tr></thead><tbody>${rows}</tbody></table>
    ${items.length === 0 && html`<p class="empty">${empty || "There is nothing to show."}</p>`}
    ${
      items.length > most &&
      html`<button type="button" onClick=${more}>
      Show more (${countText(items.length - most)} left)
    </button>`
    }
  </div>`;
};

/** A search field, and how much was found. @param {{ readonly label: string, readonly text: string, readonly change: (text: string) => void, readonly found: number, readonly total: number, readonly noun: string, readonly children?: ComponentChildren }} props */
export const SearchBar = ({
  label,
  text,
  change,
  found,
  total,
  noun,
  children,
}) => html`<div class="bar search">
  <input type="search" aria-label=${label} placeholder=${label} value=${text} maxlength="200" onInput=${onValue(change)} />
  ${children}
  <p class="count" role="status">${found === total ? "" : `${countText(found)} of `}${counted(total, noun)}</p>
</div>`;

/** The items with the text that a person searches for. @template T @param {readonly T[]} items @param {(item: T) => readonly string[]} words */
export const useSearch = (items, words) => {
  const [text, change] = useState("");
  const found = useMemo(
    () => (text === "" ? items : items.filter((item) => isFound(text, ...words(item)))),
    [items, text],
  );
  return { found, text, change };
};
