import {
  choice,
  clockTime,
  countText,
  element,
  fill,
  foreignText,
  labelled,
  setText,
  shareText,
  shortText,
  virtualList,
} from "./elements.mjs";

/** @import { ShownCall } from "../../http/call-log.js" */
/** @import { Page } from "./page.mjs" */
/** @import { DeliveryEntry } from "../../runtime/deliveries.js" */

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
 * @param {string} options.nothing what is said if there is no entry yet
 */
const entryTable = ({ label, noun, kind, columns, filters, fits, nothing }) => {
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
  /** @type {readonly T[] | undefined} Those that are shown; none if the filters have changed since. */
  let shown;

  return {
    element: view,
    /** @param {import("./page.mjs").GrowingList<T>} growing */
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

/** @type {readonly (readonly [value: string, label: string])[]} */
const outcomes = [
  ["", "any"],
  ["good", "accepted (below 400)"],
  ["bad", "refused or failed"],
  ["4", "400 to 499"],
  ["429", "429 only"],
  ["5", "500 to 599"],
  ["0", "no answer"],
];

/** @param {number} status @param {string} outcome one of `outcomes` */
export const hasOutcome = (status, outcome) => {
  if (outcome === "") return true;
  if (outcome === "good") return status > 0 && status < 400;
  if (outcome === "bad") return status === 0 || status >= 400;
  return outcome.length === 1 && outcome !== "0"
    ? Math.floor(status / 100) === Number(outcome)
    : status === Number(outcome);
};

/** @param {number} status */
export const toneOf = (status) => {
  if (status === 429) return "wait";
  if (status === 0 || status >= 400) return "bad";
  return "good";
};

/**
 * Whether a call passes the filters.
 *
 * @param {ShownCall} entry
 * @param {{ readonly text: string, readonly method: string, readonly outcome: string }} filter
 */
export const isCallWanted = (
  { method, path, template, status, clientId = "", reason = "" },
  filter,
) =>
  (filter.method === "" || filter.method === method) &&
  hasOutcome(status, filter.outcome) &&
  `${method} ${path} ${template} ${clientId} ${reason}`
    .toLowerCase()
    .includes(filter.text.toLowerCase().trim());

/** The request log. @param {Page} page */
export const callsView = (page) => {
  const text = element("input", { type: "search", placeholder: "/channels", autocomplete: "off" });
  const method = choice([["", "any"], "GET", "POST", "PUT", "DELETE"]);
  const outcome = choice(outcomes);
  /** @type {ReturnType<typeof entryTable<ShownCall>>} */
  const table = entryTable({
    label: "Calls, the newest first",
    noun: "call",
    kind: "calls",
    nothing: "No calls yet. Every call of the service is listed here as soon as it is answered.",
    filters: [
      labelled("Path, client or reason", text),
      labelled("Method", method),
      labelled("Outcome", outcome),
    ],
    fits: (entry) =>
      isCallWanted(entry, { text: text.value, method: method.value, outcome: outcome.value }),
    columns: [
      { title: "Time", kind: "time", text: ({ at }) => clockTime(at) },
      { title: "Method", text: (entry) => entry.method },
      { title: "Path", kind: "wide", text: ({ path }) => path },
      {
        title: "Status",
        text: ({ status }) => (status === 0 ? "none" : String(status)),
        tone: ({ status }) => toneOf(status),
      },
      { title: "Reason", kind: "reason", text: ({ reason = "" }) => reason },
      { title: "Took", kind: "number", text: ({ ms }) => `${ms} ms` },
      { title: "Client", kind: "spare", text: ({ clientId = "" }) => clientId },
    ],
  });
  const update = () => table.update(page.state.calls);
  for (const control of [text, method, outcome])
    control.addEventListener("input", () => {
      table.rewind();
      update();
    });
  return { element: table.element, update };
};

/** What a callback said, or why it said nothing. @param {DeliveryEntry} entry */
export const deliveryOutcome = ({ status, error }) =>
  status === undefined ? (error ?? "no answer") : String(status);

/** Callbacks accept by 2xx alone. @param {DeliveryEntry} entry */
export const isDelivered = ({ status = 0 }) => status >= 200 && status <= 299;

/** Messages on their way to the callbacks. @param {Page} page */
export const deliveriesView = (page) => {
  const text = element("input", {
    type: "search",
    placeholder: "text, https://…",
    autocomplete: "off",
  });
  const outcome = choice([
    ["", "any"],
    ["yes", "accepted"],
    ["no", "not accepted"],
  ]);
  /** @type {ReturnType<typeof entryTable<DeliveryEntry>>} */
  const table = entryTable({
    label: "Deliveries, the newest first",
    noun: "attempt",
    kind: "deliveries",
    nothing: "No deliveries yet. Every try to bring a message to a callback is listed here.",
    filters: [labelled("Address, type or message", text), labelled("Outcome", outcome)],
    fits: (entry) =>
      (outcome.value === "" || isDelivered(entry) === (outcome.value === "yes")) &&
      `${entry.url} ${entry.type} ${entry.messageId}`
        .toLowerCase()
        .includes(text.value.toLowerCase().trim()),
    columns: [
      { title: "Time", kind: "time", text: ({ at }) => clockTime(at) },
      { title: "Type", text: ({ type }) => type },
      { title: "Callback", kind: "wide", text: ({ url }) => url || "nowhere" },
      {
        title: "Try",
        kind: "number tries",
        text: ({ attempt }) => (attempt === 0 ? "–" : String(attempt)),
      },
      {
        title: "Outcome",
        text: deliveryOutcome,
        tone: (entry) =>
          entry.status === undefined ? "bad" : toneOf(isDelivered(entry) ? 200 : 500),
      },
      { title: "Message", kind: "spare", text: ({ messageId }) => messageId },
    ],
  });
  const update = () => table.update(page.state.deliveries);
  for (const control of [text, outcome])
    control.addEventListener("input", () => {
      table.rewind();
      update();
    });
  return { element: table.element, update };
};

/** @typedef {{ readonly endpoint: string, readonly tokens?: number, readonly burst?: number, readonly rate?: number, readonly accepted: number, readonly refused: number }} EndpointRate */

/** What a bucket holds, in calls that can be made. @param {number} tokens */
const callsLeft = (tokens) => Math.floor(tokens + 1e-9);

/** @param {Page} page @returns {readonly EndpointRate[]} */
const ratesOf = ({ state, tables }) => {
  const { buckets = [], counts = {} } = state.latest ?? {};
  const levels = new Map(buckets.map((each) => [each.endpoint, each]));
  const names = new Set([
    ...tables.endpoints.filter((name) => name.includes(" ")),
    ...Object.keys(counts),
  ]);
  return [...names]
    .filter((endpoint) => levels.has(endpoint) || counts[endpoint])
    .map((endpoint) => ({
      endpoint,
      ...levels.get(endpoint),
      ...(counts[endpoint] ?? { accepted: 0, refused: 0 }),
    }));
};

/** @param {number} tokens @param {number} burst */
const toneOfLevel = (tokens, burst) => {
  if (callsLeft(tokens) === 0) return "bad";
  return tokens < burst / 3 ? "wait" : "good";
};

/** @param {string} endpoint */
const rowFor = (endpoint) => {
  const bar = element("div", { class: "bar" });
  const level = element("div", { class: "level", role: "meter", "aria-valuemin": 0 }, bar);
  const left = element("span", { class: "left" });
  const [rate, accepted, refused] = [1, 2, 3].map(() => element("td", { class: "number" }));
  const row = element(
    "tr",
    {},
    element("th", { scope: "row" }, foreignText(endpoint)),
    element("td", {}, element("div", { class: "bucket" }, level, left)),
    rate,
    accepted,
    refused,
  );
  return { row, bar, level, left, rate, accepted, refused };
};

/** @param {ReturnType<typeof rowFor>} parts @param {EndpointRate} now */
const showRate = ({ row, bar, level, left, rate, accepted, refused }, now) => {
  const { endpoint, tokens, burst, rate: perSecond } = now;
  level.hidden = tokens === undefined;
  if (tokens !== undefined && burst !== undefined) {
    const calls = callsLeft(tokens);
    bar.style.width = `${(100 * tokens) / burst}%`;
    level.dataset.tone = toneOfLevel(tokens, burst);
    level.setAttribute("aria-label", `Calls left on ${endpoint}`);
    level.setAttribute("aria-valuemax", String(burst));
    level.setAttribute("aria-valuenow", String(calls));
    setText(left, `${countText(calls)} of ${countText(burst)}`);
  } else setText(left, "not limited");
  if (rate) setText(rate, perSecond === undefined ? "–" : `${perSecond}/s`);
  if (accepted) setText(accepted, countText(now.accepted));
  if (refused) setText(refused, countText(now.refused));
  if (refused) refused.dataset.tone = now.refused > 0 ? "wait" : "";
  row.classList.toggle("unused", now.accepted + now.refused === 0);
};

/** The bucket of each endpoint, as full as it is now. @param {Page} page */
export const ratesView = (page) => {
  const about = element("p", { class: "about" });
  const body = element("tbody");
  const titles = ["Endpoint", "Calls left", "Comes back", "Answered", "Refused (429)"];
  const table = element(
    "table",
    { class: "rates" },
    element("caption", { class: "hidden" }, "Rate limit of each endpoint"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...titles.map((title, place) =>
          element("th", { scope: "col", class: place > 1 ? "number" : undefined }, title),
        ),
      ),
    ),
    body,
  );
  /** @type {Map<string, ReturnType<typeof rowFor>>} */
  let rows = new Map();
  const update = () => {
    const rates = ratesOf(page);
    const plan = page.state.latest?.plan ?? "none";
    setText(
      about,
      plan === "none"
        ? "Calls are not limited. Start the emulator with --plan developer, basic or enterprise for the rates of a plan."
        : `Rates of the plan ${plan}. Each endpoint has a bucket of its own, which all callers share.`,
    );
    table.hidden = rates.length === 0;
    if (rates.some(({ endpoint }) => !rows.has(endpoint)) || rates.length !== rows.size) {
      rows = new Map(
        rates.map(({ endpoint }) => [endpoint, rows.get(endpoint) ?? rowFor(endpoint)]),
      );
      fill(body, ...[...rows.values()].map(({ row }) => row));
    }
    for (const rate of rates) {
      const row = rows.get(rate.endpoint);
      if (row) showRate(row, rate);
    }
  };
  const scroller = element(
    "div",
    { class: "scroller", tabindex: 0, role: "region", "aria-label": "Rates" },
    table,
  );
  return { element: element("div", { class: "sheet" }, about, scroller), update };
};
