import { Code, Details, ForeignText, html, linkTo, SearchBar, Table, useSearch } from "./parts.mjs";
import { clockTime, counted, dayTime } from "./texts.mjs";
import { useMemo } from "./vendor/hooks.mjs";

/** @import { ComponentChildren } from "preact" */
/** @import { ShownCall } from "../../service/calls.js" */
/** @import { ShownDelivery } from "../../conversations/deliveries.js" */
/** @import { InspectedCall } from "../inspected-call.js" */
/** @import { Column, Page } from "./parts.mjs" */

/** The lists of what happened, each a view. @typedef {"calls" | "deliveries"} LogName */
/** An entry with its place in its log. @template T @typedef {{ readonly entry: T, readonly place: number }} Placed */

/** The link to an entry of a log. @param {LogName} log @param {number} place */
export const linkToEntry = (log, place) => linkTo(log, String(place));

/** The entries of a log with their places, the newest first. @template T @param {{ readonly first: number, readonly entries: readonly T[] }} log @returns {readonly Placed<T>[]} */
const placeEntries = ({ first, entries }) =>
  entries.map((entry, index) => ({ entry, place: first + index })).reverse();

/**
 * A log, the newest entry first, and one of its entries in full.
 *
 * @template T
 * @param {object} props
 * @param {Page} props.page
 * @param {LogName} props.name of the view
 * @param {string} props.noun
 * @param {{ readonly first: number, readonly entries: readonly T[] }} props.log
 * @param {string} props.search what can be typed
 * @param {(entry: T) => readonly string[]} props.words what is searched
 * @param {readonly Column<Placed<T>>[]} props.columns
 * @param {(item: Placed<T>) => readonly [title: string, ...parts: ComponentChildren[]]} props.describe
 */
const LogView = ({ page, name, noun, log, search, words, columns, describe }) => {
  const [chosen = ""] = page.rest;
  const items = useMemo(() => placeEntries(log), [log]);
  const { found, ...field } = useSearch(items, ({ entry }) => words(entry));
  const bar = { label: search, found: found.length, total: items.length, noun };
  const { [Number(chosen) - log.first]: entry } = log.entries;
  const [title, ...parts] = entry
    ? describe({ entry, place: Number(chosen) })
    : ["No longer available"];
  const details = html`<${Details} key=${chosen} label=${`Chosen ${noun}`} title=${title} close=${`#${name}`}>${parts}<//>`;
  const href = (/** @type {Placed<T>} */ { place }) => linkToEntry(name, place);
  return html`<div class="view">
    <${SearchBar} ...${bar} ...${field} />
    <div class="beside">
      <${Table} label=${name} items=${found} columns=${columns} href=${href} />
      ${chosen !== "" && details}
    </div>
  </div>`;
};

/** @param {number} status 0: no response */
const toneOf = (status) => {
  if (status === 429) return "wait";
  return status === 0 || status >= 400 ? "bad" : "good";
};

/** How a tone is said, to be searched for. */
const tones = { good: "accepted", wait: "refused too fast", bad: "refused" };

/** Why a call was refused, and the fault that it met. @param {{ readonly reason: string | undefined, readonly fault: string | undefined }} props */
const Refusal = ({ reason, fault }) =>
  (reason || fault) &&
  html`<section class="refusal">
    ${fault && html`<p><strong>A fault was requested: ${fault}.</strong></p>`}
    ${reason && html`<p><${ForeignText} text=${reason} /></p>`}
  </section>`;

/** @param {{ readonly title: string, readonly body: InspectedCall["sent"] }} props */
const Body = ({ title, body }) => html`<section>
  <h3>${title}${body ? `, ${counted(body.size, "byte")}` : ": no body"}</h3>
  ${
    body && body.json === undefined
      ? html`<p class="quiet">Not shown: it is large, is not JSON, or may contain unknown secrets.</p>`
      : body && html`<${Code} label=${title} value=${body.json} />`
  }
</section>`;

/** @type {readonly Column<Placed<ShownCall>>[]} */
const callColumns = [
  ["Time", "time", ({ entry }) => clockTime(entry.at)],
  ["Method", "method", ({ entry }) => entry.method],
  ["Path", "wide", ({ entry }) => entry.path],
  ["Status", "status", ({ entry }) => entry.status || "none", ({ entry }) => toneOf(entry.status)],
  ["Reason", "reason spare", ({ entry }) => entry.reason ?? ""],
  ["Took", "number spare", ({ entry }) => `${entry.ms} ms`],
  ["Client", "client spare", ({ entry }) => entry.clientId ?? ""],
];

/** The request log. @param {{ readonly page: Page }} props */
export const CallsView = ({ page }) => {
  const { calls, call } = page.known;
  /** @param {Placed<ShownCall>} item @returns {readonly [string, ...ComponentChildren[]]} */
  const describe = ({ entry: { method, path, status, at, ms, clientId = "", reason }, place }) => [
    `${method} ${path}`,
    html`<p class="quiet">
      <span data-tone=${toneOf(status)}>${status === 0 ? "no response" : `returned ${status}`}</span>
      ${` · ${dayTime(at)} · ${ms} ms · `}<${ForeignText} text=${clientId} />
    </p>`,
    call?.place === place &&
      html`
      <${Refusal} reason=${reason} fault=${call.fault} />
      <${Body} title="Sent" body=${call.sent} />
      <${Body} title="Received" body=${call.answer} />
      <p class="quiet">Secrets are hidden.</p>
    `,
  ];
  const words = (/** @type {ShownCall} */ { method, path, status, clientId = "", reason = "" }) => [
    `${method} ${path} ${status} ${tones[toneOf(status)]} ${clientId} ${reason}`,
  ];
  const search = "Path, method, status, or “refused”";
  const shown = { page, name: "calls", noun: "call", log: calls, columns: callColumns };
  return html`<${LogView} ...${shown} search=${search} words=${words} describe=${describe} />`;
};

/** A callback's response, or why there is none. @param {Pick<ShownDelivery, "status" | "error">} entry */
export const deliveryOutcome = ({ status, error = "no response" }) => String(status ?? error);

/** The last attempts of the deliveries that failed so far, the newest first. @template {Pick<ShownDelivery, "delivery" | "failure">} T @param {readonly Placed<T>[]} items the newest first */
const findUndelivered = (items) => {
  const last = new Map(items.toReversed().map((item) => [item.entry.delivery, item]));
  return items.filter((item) => item.entry.failure && last.get(item.entry.delivery) === item);
};

/** What became of a delivery after a failed attempt. @param {readonly ShownDelivery[]} entries @param {ShownDelivery} entry */
const describeRest = (entries, { delivery, failure }) => {
  const last = entries.findLast((entry) => entry.delivery === delivery);
  if (last && !last.failure) return `Attempt ${last.attempt} delivered the message.`;
  return `${last?.failure?.isRetried ? "The service will try again." : "No attempt is left."} ${failure?.next}`;
};

/** @type {readonly Column<Placed<ShownDelivery>>[]} */
const deliveryColumns = [
  ["Time", "time", ({ entry }) => clockTime(entry.at)],
  ["Type", "type", ({ entry }) => entry.type],
  ["Callback", "wide", ({ entry }) => entry.url || "nowhere"],
  ["Attempt", "number spare", ({ entry }) => entry.attempt || "–"],
  [
    "Outcome",
    "outcome",
    ({ entry }) => deliveryOutcome(entry),
    ({ entry }) => (entry.failure ? "bad" : "good"),
  ],
];

/** The attempts to deliver messages to callbacks. @param {{ readonly page: Page }} props */
export const DeliveriesView = ({ page }) => {
  const { deliveries } = page.known;
  /** @param {Placed<ShownDelivery>} item @returns {readonly [string, ...ComponentChildren[]]} */
  const describe = ({ entry }) => {
    const { type, at, attempt, url, failure } = entry;
    return [
      type,
      html`<p class="quiet">${dayTime(at)} · attempt ${attempt} · <${ForeignText} text=${url || "nowhere"} /></p>`,
      html`<section class=${failure && "refusal"}>
        <p><strong>${failure?.rule}</strong></p>
        <p>
          ${entry.status !== undefined && "Returned "}<${ForeignText} text=${deliveryOutcome(entry)} />
          ${failure?.fault && ` (fault: ${failure.fault})`}
        </p>
        ${failure && html`<p>${describeRest(deliveries.entries, entry)}</p>`}
      </section>`,
      html`<p><a href=${linkTo("conversations", entry.conversationId)}>The conversation</a></p>`,
    ];
  };
  const words = (/** @type {ShownDelivery} */ entry) => [
    `${entry.url} ${entry.type} ${deliveryOutcome(entry)} ${entry.messageId} ${entry.conversationId}`,
  ];
  const shown = { page, name: "deliveries", noun: "attempt", log: deliveries };
  return html`<${LogView}
    ...${shown}
    columns=${deliveryColumns}
    search="Address, ID, type, or outcome"
    words=${words}
    describe=${describe}
  />`;
};

/** What went wrong last, on every view. @param {{ readonly page: Page }} props */
export const Notices = ({ page: { known } }) => {
  const { calls, deliveries } = known;
  // One beyond its rate is only late.
  const isRefused = (/** @type {ShownCall} */ { status }) => status >= 400 && status !== 429;
  const refused = useMemo(
    () => placeEntries(calls).filter(({ entry }) => isRefused(entry)),
    [calls],
  );
  const undelivered = useMemo(() => findUndelivered(placeEntries(deliveries)), [deliveries]);
  /** @template T @param {LogName} log @param {string} outcome @param {readonly Placed<T>[]} items @param {(entry: T) => string} describe */
  const notice = (log, outcome, [last, ...others], describe) =>
    last &&
    html`<a href=${linkToEntry(log, last.place)}>
      ${others.length > 0 ? `Last of ${others.length + 1}` : "Last"} ${outcome}:${" "}
      <${ForeignText} text=${describe(last.entry)} />
    </a>`;
  return html`<section class="bar notices" aria-label="What went wrong last">
    ${notice("calls", "refused", refused, ({ status, method, path }) => `${status} ${method} ${path}`)}
    ${notice("deliveries", "undelivered", undelivered, ({ type, failure }) => `${type}. ${failure?.rule}`)}
  </section>`;
};
