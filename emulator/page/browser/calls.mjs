import {
  clockTime,
  countText,
  element,
  fill,
  filterBar,
  foreignText,
  group,
  isFound,
  keepRows,
  paragraph,
  setAttributes,
  setText,
  shortText,
  virtualList,
  withoutBidi,
} from "./elements.mjs";
import { callDetails, deliveryDetails, deliveryOutcome, isDelivered } from "./inspector.mjs";
import { linkToEntry, subjectParts } from "./links.mjs";

/** @import { ShownCall, WithSubjects } from "../../http/call-log.js" */
/** @import { Child, Options } from "./elements.mjs" */
/** @import { Details } from "./inspector.mjs" */
/** @import { GrowingList, LogName, Page } from "./page.mjs" */

/** @template T @typedef {{ readonly place: number, readonly entry: T }} PlacedEntry */

/** Whether an entry is about a subject or, given a collection, about the collection or any of its objects. An empty string matches every entry. @param {WithSubjects & { readonly template?: string }} entry @param {string} wanted */
export const isAbout = ({ subjects, template }, wanted) =>
  wanted === "" ||
  template === `/${wanted}` ||
  subjects.some((subject) => subject === wanted || subject.startsWith(`${wanted}/`));

/**
 * The entries of a growing list that pass its filters, newest first. New entries are added to those that passed before, so that a long list costs no more than a short one.
 *
 * @template T
 */
class PassingEntries {
  /** The oldest first. @type {PlacedEntry<T>[]} */
  #passed = [];
  #next = 0;
  #generation = -1;

  /** @param {GrowingList<T>} list @param {(entry: T) => boolean} fits @returns number of entries added; undefined if all entries were replaced */
  take({ first, entries, generation }, fits) {
    const isOther = generation !== this.#generation;
    if (isOther) this.forget();
    this.#generation = generation;
    const gone = this.#passed.findIndex(({ place }) => place >= first);
    this.#passed.splice(0, gone < 0 ? this.#passed.length : gone);
    const before = this.#passed.length;
    for (let place = Math.max(first, this.#next); place < first + entries.length; place += 1) {
      const { [place - first]: entry } = entries;
      if (entry !== undefined && fits(entry)) this.#passed.push({ place, entry });
    }
    this.#next = first + entries.length;
    return isOther ? undefined : this.#passed.length - before;
  }

  /** Other filters: all are looked at again. */
  forget() {
    this.#passed = [];
    this.#next = 0;
    this.#generation = -1;
  }

  get length() {
    return this.#passed.length;
  }

  /** @param {number} row 0: the newest */
  at(row) {
    return this.#passed[this.length - 1 - row];
  }

  /** The row of the entry at a place in the list; below 0: none. @param {number} place */
  rowOf(place) {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#passed[middle]?.place ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return this.#passed[low]?.place === place ? this.length - 1 - low : -1;
  }
}

/**
 * A table of a growing list, new entries at the top, with filters above it and one of them in full next to it.
 *
 * @template {WithSubjects} T
 * @param {Page} page
 * @param {LogName} name of the view
 * @param {() => GrowingList<T>} listed
 * @param {object} options
 * @param {string} options.label
 * @param {string} options.noun
 * @param {readonly Child[]} options.nothing
 * @param {readonly [label: string, placeholder: string]} options.search
 * @param {Readonly<Record<string, Options>>} options.choices beside that of the object
 * @param {(entry: T, values: readonly string[]) => boolean} options.fits whether an entry passes the filters
 * @param {readonly (readonly [title: string, kind: string, text: (entry: T) => string, tone?: (entry: T) => string])[]} options.columns
 *   each with a class of its cells, and how a cell is coloured beside its text; that of the class `wide` leads to the entry, and that of the class `end` is cut at its beginning
 * @param {(entry: T) => Details} options.details of one entry: made again when the version changes
 */
const entryTable = (page, name, listed, options) => {
  const { label, noun, nothing, search, choices, fits, columns, details } = options;
  /** @type {PassingEntries<T>} */
  const passing = new PassingEntries();
  const titles = columns.map(([title, kind]) =>
    element("span", { role: "columnheader", class: kind }, title),
  );
  /** Shows whether a row is the one that the address names. @param {Element} row */
  const markRow = (row) => {
    const link = row.querySelector("a");
    const isChosen = link?.getAttribute("href") === linkToEntry(name, Number(page.rest[0] ?? -1));
    row.classList.toggle("chosen", isChosen);
    if (link) setAttributes(link, { "aria-current": isChosen ? "true" : undefined });
  };
  const list = virtualList({
    rowHeight: 30,
    head: element(
      "div",
      { class: "head", role: "rowgroup" },
      element("div", { role: "row" }, ...titles),
    ),
    attributes: { role: "table", "aria-label": label },
    role: "rowgroup",
    keyOf: (/** @type {PlacedEntry<T>} */ { place }) => String(place),
    placeOf: (key) => passing.rowOf(Number(key)),
    position: (place) => ({ "aria-rowindex": place + 2 }),
    make: ({ entry, place }) => {
      const cells = columns.map(([, kind, text, tone]) => {
        const title = withoutBidi(shortText(text(entry)));
        const attributes = { role: "cell", class: kind, title, "data-tone": tone?.(entry) };
        const href = linkToEntry(name, place);
        return element(
          "bdi",
          attributes,
          kind.startsWith("wide") ? element("a", { href }, element("bdi", {}, title)) : title,
        );
      });
      const row = element("div", { class: "row", role: "row" }, ...cells);
      markRow(row);
      return row;
    },
  });

  const panel = element("aside", {
    class: "details",
    hidden: true,
    "aria-label": `Chosen ${noun}`,
  });
  panel.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") location.hash = `#${name}`;
  });
  let shown = "";
  /** The entry that the address names, if any. @returns whether one is shown */
  const showDetails = () => {
    const [first = ""] = page.rest;
    const isNamed = /^\d+$/.test(first);
    const place = isNamed ? Number(first) : -1;
    for (const row of list.element.querySelectorAll(".row")) markRow(row);
    panel.hidden = !isNamed;
    const { entries, first: oldest } = listed();
    const { [place - oldest]: entry } = entries;
    /** @type {Details} */
    const gone = ["", () => [element("h2", {}, `This ${noun} is no longer available`)]];
    const [version, make] = entry && isNamed ? details(entry) : gone;
    if (shown === `${first} ${version}`) return;
    shown = `${first} ${version}`;
    const close = { href: `#${name}`, class: "button", "aria-label": "Close" };
    const [title, ...rest] = make();
    fill(panel, element("header", {}, title, element("a", close, "Close")), ...rest);
  };

  /** @type {Map<string, string>} */
  const subjects = new Map();
  let wanted = "";
  /** @type {unknown} */
  let followed;
  let offered = 0;
  const bar = filterBar({ noun, nothing, search, choices: { ...choices, Object: [] } }, () => {
    list.element.scrollTop = 0;
    passing.forget();
    update();
  });

  /** The choice of an object offers the kinds that occur, and what the address asks for. */
  const offerSubjects = () => {
    const [first = "", ...rest] = page.rest;
    const isAsked = followed !== page.rest && first === "of";
    if (isAsked) {
      wanted = rest.join("/");
      const { noun: kind, name: title } = subjectParts(page, wanted);
      subjects.set(wanted, `${kind} ${shortText(title)}`);
    }
    followed = page.rest;
    for (const { collection, noun: kind } of page.tables.kinds)
      subjects.set(collection, `${kind}s`);
    subjects.set("conversations", "conversations");
    if (isAsked || offered !== subjects.size)
      bar.offer("Object", [["", "any"], ...subjects], isAsked ? wanted : undefined);
    offered = subjects.size;
    if (isAsked) passing.forget();
  };

  const update = () => {
    offerSubjects();
    const growing = listed();
    const values = bar.values();
    const about = values.at(-1) ?? "";
    const above = passing.take(growing, (entry) => isAbout(entry, about) && fits(entry, values));
    if (above !== 0) {
      list.element.setAttribute("aria-rowcount", String(passing.length + 1));
      bar.count(passing.length, growing.entries.length);
    }
    list.show(passing, above ?? 0);
    const hadFocus = panel.contains(document.activeElement);
    showDetails();
    if (hadFocus && panel.hidden) list.focus();
  };
  const beside = group("beside", list.element, panel);
  const parts = [bar.element, bar.empty, beside];
  return { element: element("div", { class: `entries ${name}` }, ...parts), update };
};

/** @type {readonly (readonly [value: string, label: string])[]} */
const outcomes = [
  ["", "any"],
  ["good", "accepted (below 400)"],
  ["bad", "refused or failed"],
  ["4", "400 to 499"],
  ["429", "429 only"],
  ["5", "500 to 599"],
  ["0", "no response"],
];

/** @param {number} status @param {string} outcome one of `outcomes` */
export const hasOutcome = (status, outcome) => {
  if (outcome === "") return true;
  if (outcome === "good") return status > 0 && status < 400;
  if (outcome === "bad") return status === 0 || status >= 400;
  return [status, Math.floor(status / 100)].includes(Number(outcome));
};

/** @param {number} status */
export const toneOf = (status) => {
  if (status === 429) return "wait";
  return status === 0 || status >= 400 ? "bad" : "good";
};

/** Whether a call passes the filters. @param {Omit<ShownCall, "subjects">} entry @param {readonly string[]} values of the filters @param {string} [names] of what it is about */
export const isCallWanted = (
  { method, path, template, status, clientId = "", reason = "" },
  [text = "", wanted = "", outcome = ""],
  names = "",
) =>
  (wanted === "" || wanted === method) &&
  hasOutcome(status, outcome) &&
  isFound(text, method, path, template, String(status), clientId, reason, names);

/** The names of what an entry is about, to search in. @param {Page} page @param {WithSubjects} entry */
const namesOf = (page, { subjects }) =>
  subjects.map((subject) => `${subject} ${page.state.objectOf(subject)?.name ?? ""}`).join(" ");

/** Leads to the first steps. @param {string} text */
const connectHint = (text) => [
  `${text} `,
  element("a", { href: "#connect" }, "Apply a program to this emulator"),
  ".",
];

/** The request log. @param {Page} page */
export const callsView = (page) =>
  entryTable(page, "calls", () => page.state.calls, {
    label: "Calls, newest first",
    noun: "call",
    nothing: connectHint("No calls yet."),
    search: ["Path, name, client, or reason", "/channels"],
    choices: { Method: [["", "any"], "GET", "POST", "PUT", "DELETE"], Outcome: outcomes },
    fits: (entry, values) => isCallWanted(entry, values, values[0] ? namesOf(page, entry) : ""),
    columns: [
      ["Time", "time", ({ at }) => clockTime(at)],
      ["Method", "method", ({ method }) => method],
      ["Path", "wide", ({ path }) => path],
      [
        "Status",
        "status",
        ({ status }) => (status === 0 ? "none" : String(status)),
        ({ status }) => toneOf(status),
      ],
      ["Reason", "reason", ({ reason = "" }) => reason],
      ["Took", "number", ({ ms }) => `${ms} ms`],
      ["Client", "spare", ({ clientId = "" }) => clientId],
    ],
    details: (entry) => callDetails(page, entry),
  });

/** The attempts to deliver messages to callbacks. @param {Page} page */
export const deliveriesView = (page) =>
  entryTable(page, "deliveries", () => page.state.deliveries, {
    label: "Deliveries, newest first",
    noun: "attempt",
    nothing: [
      "No deliveries yet. Every attempt to deliver a message to a callback is listed here. To see one, ",
      element("a", { href: "#conversations/new" }, "send a message"),
      ".",
    ],
    search: ["Address, name, type, or message", "text, https://…"],
    choices: {
      Outcome: [
        ["", "any"],
        ["yes", "accepted"],
        ["no", "not accepted"],
      ],
    },
    fits: (entry, [text = "", outcome = ""]) =>
      (outcome === "" || isDelivered(entry) === (outcome === "yes")) &&
      isFound(text, entry.url, entry.type, deliveryOutcome(entry), text && namesOf(page, entry)),
    columns: [
      ["Time", "time", ({ at }) => clockTime(at)],
      ["Type", "type", ({ type }) => type],
      ["Callback", "wide end", ({ url }) => url || "nowhere"],
      ["Attempt", "number", ({ attempt }) => (attempt === 0 ? "–" : String(attempt))],
      ["Outcome", "outcome", deliveryOutcome, (entry) => (isDelivered(entry) ? "good" : "bad")],
      ["Message", "spare", ({ messageId }) => messageId],
    ],
    details: (entry) => deliveryDetails(page, entry),
  });

/** @typedef {{ readonly endpoint: string, readonly tokens?: number, readonly burst?: number, readonly rate?: number, readonly accepted: number, readonly refused: number }} EndpointRate */

/** The bucket and the counts of each endpoint that has either. @param {Page} page @returns {readonly EndpointRate[]} */
const ratesOf = ({ state }) => {
  const { buckets = [], counts = {} } = state.latest ?? {};
  const levels = new Map(buckets.map((each) => [each.endpoint, each]));
  return [...new Set([...levels.keys(), ...Object.keys(counts)])].map((endpoint) => ({
    endpoint,
    ...levels.get(endpoint),
    ...(counts[endpoint] ?? { accepted: 0, refused: 0 }),
  }));
};

/** @param {EndpointRate} rate */
const rateRow = ({ endpoint, tokens = 0, burst, rate, accepted, refused }) => {
  // A call that falls short only by rounding counts.
  const left = Math.floor(tokens + 1e-9);
  const most = burst ?? 0;
  const meter = element("meter", {
    "aria-label": `Calls left for ${endpoint}`,
    max: most,
    low: Math.max(1, most / 3),
    optimum: most,
    value: left === 0 ? 0 : tokens,
  });
  const bucket = burst
    ? [meter, element("span", { class: "left" }, `${countText(left)} of ${countText(burst)}`)]
    : ["not limited"];
  return element(
    "tr",
    { class: accepted + refused === 0 ? "unused" : undefined },
    element("th", { scope: "row" }, foreignText(endpoint)),
    element("td", {}, group("bucket", ...bucket)),
    element("td", { class: "number" }, rate === undefined ? "–" : `${rate}/s`),
    element("td", { class: "number" }, countText(accepted)),
    element(
      "td",
      { class: "number", "data-tone": refused > 0 ? "wait" : undefined },
      countText(refused),
    ),
  );
};

/** Each endpoint's current bucket level and call counts. @param {Page} page */
export const ratesView = (page) => {
  const about = paragraph("about");
  const body = element("tbody");
  const titles = ["Endpoint", "Calls left", "Refill rate", "Answered", "Refused (429)"].map(
    (title, place) =>
      element("th", { scope: "col", class: place > 1 ? "number" : undefined }, title),
  );
  const table = element(
    "table",
    { class: "rates" },
    element("caption", { class: "hidden" }, "Rate limits by endpoint"),
    element("thead", {}, element("tr", {}, ...titles)),
    body,
  );
  /** @type {import("./elements.mjs").Rows} */
  const rows = new Map();
  const update = () => {
    const rates = ratesOf(page);
    const plan = page.state.latest?.plan ?? "none";
    setText(
      about,
      plan === "none"
        ? "Calls are not limited. To apply a plan's rates, start the emulator with --plan developer, --plan basic, or --plan enterprise."
        : `The rates of the ${plan} plan apply. Each endpoint has its own bucket, which all callers share.`,
    );
    table.hidden = rates.length === 0;
    keepRows(
      body,
      rows,
      rates.map((rate) => [rate.endpoint, JSON.stringify(rate), () => rateRow(rate)]),
    );
  };
  const attributes = { class: "scroller", tabindex: 0, role: "region", "aria-label": "Rates" };
  const scroller = element("div", attributes, table);
  return { element: group("sheet", about, scroller), update };
};
