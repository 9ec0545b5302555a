import {
  clockTime,
  countText,
  element,
  filterBar,
  foreignText,
  group,
  isFound,
  keepRows,
  paragraph,
  setText,
  shortText,
  virtualList,
} from "./elements.mjs";

/** @import { ShownCall } from "../../http/call-log.js" */
/** @import { DeliveryEntry } from "../../runtime/deliveries.js" */
/** @import { GrowingList, Page } from "./page.mjs" */

/** @template T @typedef {{ readonly place: number, readonly entry: T }} PlacedEntry */

/**
 * A table of a growing list, new entries at the top, with filters above it.
 *
 * @template T
 * @param {() => GrowingList<T>} listed
 * @param {object} options
 * @param {string} options.label
 * @param {string} options.kind a class of the table, which has its columns' widths
 * @param {Parameters<typeof filterBar>[0]} options.filters
 * @param {(entry: T, values: readonly string[]) => boolean} options.fits whether an entry passes the filters
 * @param {readonly (readonly [title: string, kind: string, text: (entry: T) => string, tone?: (entry: T) => string])[]} options.columns
 *   each with a class of its cells, and how a cell is coloured beside its text
 */
const entryTable = (listed, { label, kind, filters, fits, columns }) => {
  const titles = columns.map(([title, name]) =>
    element("span", { role: "columnheader", class: name }, title),
  );
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
    position: (place) => ({ "aria-rowindex": place + 2 }),
    make: ({ entry }) => {
      const cells = columns.map(([, name, text, tone]) => {
        const said = shortText(text(entry));
        const attributes = { role: "cell", class: name, title: said, "data-tone": tone?.(entry) };
        return element("span", attributes, foreignText(said));
      });
      return element("div", { class: "row", role: "row" }, ...cells);
    },
  });
  /** @type {Map<T, PlacedEntry<T>>} */
  let placed = new Map();
  let newest = -1;
  /** @type {readonly T[] | undefined} Those that are shown; none if the filters have changed since. */
  let shown;
  const bar = filterBar(filters, () => {
    list.element.scrollTop = 0;
    newest = -1;
    shown = undefined;
    update();
  });

  const update = () => {
    const { first, entries } = listed();
    if (entries === shown) return;
    shown = entries;
    const values = bar.values();
    const found = entries
      .flatMap((entry, index) =>
        fits(entry, values) ? [placed.get(entry) ?? { place: first + index, entry }] : [],
      )
      .reverse();
    placed = new Map(found.map((each) => [each.entry, each]));
    const above = newest < 0 ? 0 : found.findIndex(({ place }) => place <= newest);
    newest = first + entries.length - 1;
    list.element.setAttribute("aria-rowcount", String(found.length + 1));
    bar.count(found.length, entries.length);
    list.show(found, Math.max(0, above));
  };
  const parts = [bar.element, bar.empty, list.element];
  return { element: element("div", { class: `entries ${kind}` }, ...parts), update };
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
  return [status, Math.floor(status / 100)].includes(Number(outcome));
};

/** @param {number} status */
export const toneOf = (status) => {
  if (status === 429) return "wait";
  return status === 0 || status >= 400 ? "bad" : "good";
};

/** Whether a call passes the filters. @param {ShownCall} entry @param {readonly string[]} values of the filters */
export const isCallWanted = (
  { method, path, template, status, clientId = "", reason = "" },
  [text = "", wanted = "", outcome = ""],
) =>
  (wanted === "" || wanted === method) &&
  hasOutcome(status, outcome) &&
  isFound(text, method, path, template, clientId, reason);

/** The request log. @param {Page} page */
export const callsView = (page) =>
  entryTable(() => page.state.calls, {
    label: "Calls, the newest first",
    kind: "calls",
    filters: {
      noun: "call",
      nothing: "No calls yet. Every call of the service is listed here as soon as it is answered.",
      search: ["Path, client or reason", "/channels"],
      choices: { Method: [["", "any"], "GET", "POST", "PUT", "DELETE"], Outcome: outcomes },
    },
    fits: isCallWanted,
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
  });

/** A callback's answer, or why there is none. @param {DeliveryEntry} entry */
export const deliveryOutcome = ({ status, error }) =>
  status === undefined ? (error ?? "no answer") : String(status);

/** Only a 2xx from a callback counts as accepted. @param {DeliveryEntry} entry */
export const isDelivered = ({ status = 0 }) => status >= 200 && status <= 299;

/** Messages on their way to the callbacks. @param {Page} page */
export const deliveriesView = (page) =>
  entryTable(() => page.state.deliveries, {
    label: "Deliveries, the newest first",
    kind: "deliveries",
    filters: {
      noun: "attempt",
      nothing: "No deliveries yet. Every try to bring a message to a callback is listed here.",
      search: ["Address, type or message", "text, https://…"],
      choices: {
        Outcome: [
          ["", "any"],
          ["yes", "accepted"],
          ["no", "not accepted"],
        ],
      },
    },
    fits: (entry, [text = "", outcome = ""]) =>
      (outcome === "" || isDelivered(entry) === (outcome === "yes")) &&
      isFound(text, entry.url, entry.type, entry.messageId),
    columns: [
      ["Time", "time", ({ at }) => clockTime(at)],
      ["Type", "type", ({ type }) => type],
      ["Callback", "wide", ({ url }) => url || "nowhere"],
      ["Try", "number tries", ({ attempt }) => (attempt === 0 ? "–" : String(attempt))],
      ["Outcome", "outcome", deliveryOutcome, (entry) => (isDelivered(entry) ? "good" : "bad")],
      ["Message", "spare", ({ messageId }) => messageId],
    ],
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
    "aria-label": `Calls left on ${endpoint}`,
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

/** The bucket of each endpoint, as full as it is now. @param {Page} page */
export const ratesView = (page) => {
  const about = paragraph("about");
  const body = element("tbody");
  const titles = ["Endpoint", "Calls left", "Comes back", "Answered", "Refused (429)"].map(
    (title, place) =>
      element("th", { scope: "col", class: place > 1 ? "number" : undefined }, title),
  );
  const table = element(
    "table",
    { class: "rates" },
    element("caption", { class: "hidden" }, "Rate limit of each endpoint"),
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
        ? "Calls are not limited. Start the emulator with --plan developer, basic or enterprise for the rates of a plan."
        : `Rates of the plan ${plan}. Each endpoint has a bucket of its own, which all callers share.`,
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
