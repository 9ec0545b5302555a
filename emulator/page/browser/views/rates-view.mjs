import { element, fill, foreignText, setText } from "../elements.mjs";
import { countText } from "../times.mjs";

/** @import { Page } from "../page.mjs" */
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
