import { counted, countText, inertJson, isFound, shortText, withoutBidi } from "./texts.mjs";
import { useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.mjs";
import htm from "./vendor/htm.mjs";
import { h } from "./vendor/preact.mjs";

/** @import { ComponentChildren } from "preact" */
/** @import { Known } from "./emulator.mjs" */

export const html = htm.bind(h);

/** What a view gets: what is known, the part of the address after the view's name. @typedef {{ readonly known: Known, readonly rest: readonly string[], readonly lookNow: () => void }} Page */

/** An address of this page. @param {string} view @param {readonly string[]} steps */
export const linkTo = (view, ...steps) => `#${[view, ...steps].map(encodeURIComponent).join("/")}`;

/** @type {Map<string, unknown>} */
const kept = new Map();

/**
 * A state that outlives its view: filters and drafts are there again when a person comes back.
 *
 * @template T
 * @param {string} name
 * @param {T} first
 * @returns {readonly [T, (change: (value: T) => T) => void]}
 */
export const useKept = (name, first) => {
  const [, redraw] = useState(0);
  const read = () => /** @type {T} */ (kept.get(name) ?? first);
  /** @param {(value: T) => T} change */
  const write = (change) => {
    kept.set(name, change(read()));
    redraw((count) => count + 1);
  };
  return [read(), write];
};

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

/** How a key compares a link with the one that has the focus: below 0, it does not lead there. @type {Readonly<Record<string, (right: number, down: number) => number>>} */
const keyDistances = {
  ArrowUp: (right, down) => (right === 0 ? -down : -1),
  ArrowDown: (right, down) => (right === 0 ? down : -1),
  ArrowLeft: (right, down) => (right < 0 ? -right * 1e6 + Math.abs(down) : -1),
  ArrowRight: (right, down) => (right > 0 ? right * 1e6 + Math.abs(down) : -1),
  Home: (right, down) => (right === 0 && down < 0 ? 1e6 + down : -1),
  End: (right, down) => (right === 0 && down > 0 ? 1e6 - down : -1),
};

/** Lists of links that are one stop of the Tab key: other keys lead from link to link. @param {{ readonly children: ComponentChildren } & Readonly<Record<string, unknown>>} props and attributes of the element that scrolls */
export const KeyLists = ({ children, ...attributes }) => {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const active = useRef("");
  const readLinks = () => [...(box.current?.querySelectorAll("a") ?? [])];
  const setStop = () => {
    const links = readLinks();
    const stop = links.find((link) => link.hash === active.current) ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  };
  useLayoutEffect(setStop);
  const remember = (/** @type {FocusEvent} */ { target }) => {
    if (target instanceof HTMLAnchorElement) active.current = target.hash;
    setStop();
  };
  const follow = (/** @type {KeyboardEvent} */ event) => {
    const { [event.key]: measure } = keyDistances;
    if (!(measure && event.target instanceof HTMLAnchorElement)) return;
    event.preventDefault();
    const own = event.target.getBoundingClientRect();
    const away = readLinks().map((link) => {
      const { left, top } = link.getBoundingClientRect();
      return { link, distance: measure(left - own.left, top - own.top) };
    });
    const [next] = away
      .filter(({ distance }) => distance > 0)
      .sort((a, b) => a.distance - b.distance);
    next?.link.focus();
  };
  return html`<div ref=${box} ...${attributes} onFocusIn=${remember} onKeyDown=${follow}>${children}</div>`;
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
 */
export const Table = ({ label, items, columns, href }) => {
  const [most, setMost] = useState(rowsAtOnce);
  const { hash } = location;
  const draw = (/** @type {T} */ item, /** @type {number} */ index) => {
    const link = href?.(item);
    const current = link === hash ? "true" : undefined;
    const cells = columns.map(([, kind, show, tone]) => {
      const text = String(show(item));
      const cell = html`<${ForeignText} text=${text} />`;
      const linked = html`<a href=${link} aria-current=${current}>${cell}</a>`;
      return html`<td class=${kind} data-tone=${tone?.(item)} title=${shortText(text)}>
        ${link && kind.startsWith("wide") ? linked : cell}
      </td>`;
    });
    return html`<tr key=${link ?? index} class=${current && "chosen"}>${cells}</tr>`;
  };
  const rows = useMemo(() => items.slice(0, most).map(draw), [items, most, hash]);
  const titles = columns.map(([title, kind]) => html`<th scope="col" class=${kind}>${title}</th>`);
  const more = () => setMost(most + rowsAtOnce);
  return html`<${KeyLists} class="scroller" tabindex=${href ? undefined : 0} role="region" aria-label=${label}>
    <table class=${label} aria-label=${label}><thead><tr>${titles}</tr></thead><tbody>${rows}</tbody></table>
    ${items.length === 0 && html`<p class="empty">There is nothing to show.</p>`}
    ${
      items.length > most &&
      html`<button type="button" onClick=${more}>
      Show more (${countText(items.length - most)} left)
    </button>`
    }
  <//>`;
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

/** The items with the text that a person searches for, which is kept under a name. @template T @param {string} name @param {readonly T[]} items @param {(item: T) => readonly string[]} words */
export const useSearch = (name, items, words) => {
  const [text, setText] = useKept(name, "");
  const found = useMemo(
    () => (text === "" ? items : items.filter((item) => isFound(text, ...words(item)))),
    [items, text],
  );
  return { found, text, change: (/** @type {string} */ value) => setText(() => value) };
};

/** A subject of an entry: its name, linked if possible. @param {{ readonly page: Page, readonly subject: string, readonly children?: ComponentChildren }} props */
export const Subject = ({ page: { known }, subject, children }) => {
  const [collection = "", ...rest] = subject.split("/");
  const id = rest.join("/");
  const object = known.objects.get(subject);
  const noun = known.tables.kinds.find((each) => each.collection === collection)?.noun;
  const name = object?.name || known.conversations.find((each) => each.id === id)?.customer || id;
  const shown = html`<${ForeignText} text=${name} />`;
  const conversation = collection === "conversations" && linkTo(collection, id);
  const href = object ? linkTo("objects", collection, id) : conversation;
  return html`<li>
    ${href ? html`<a href=${href}>${shown}</a>` : shown}
    <span class="quiet"> ${noun ?? collection.replace(/s$/, "")}${noun && !object && ", not there"}${children}</span>
  </li>`;
};
