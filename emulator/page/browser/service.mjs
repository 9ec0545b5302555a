import { html, Table } from "./parts.mjs";
import { countText } from "./texts.mjs";

/** @import { Known } from "./emulator.mjs" */
/** @import { Column, Page } from "./parts.mjs" */

/** @type {readonly Column<Known["rates"][number]>[]} */
const rateColumns = [
  ["Endpoint", "endpoint", ({ endpoint }) => endpoint],
  [
    "Calls left",
    "number",
    // A call that falls short only by rounding counts.
    ({ bucket }) =>
      bucket ? `${Math.floor(bucket.tokens + 1e-9)} of ${bucket.burst}` : "no limit",
    ({ bucket }) => (bucket && bucket.tokens < 1 ? "wait" : undefined),
  ],
  ["Refill", "number spare", ({ bucket }) => (bucket ? `${bucket.rate}/s` : "–")],
  ["Answered", "number", ({ accepted }) => countText(accepted)],
  [
    "Refused",
    "number",
    ({ refused }) => countText(refused),
    ({ refused }) => (refused ? "wait" : undefined),
  ],
];

/** Each endpoint's bucket level and call counts. @param {{ readonly page: Page }} props */
export const RatesView = ({ page: { known } }) => html`<div class="view">
  <p class="bar search">
    ${
      known.plan === "none"
        ? "Calls are not limited. To apply a plan's rates, start the emulator with --plan developer, --plan basic, or --plan enterprise."
        : `The rates of the ${known.plan} plan apply. Each endpoint has its own bucket, which all callers share.`
    }
  </p>
  <${Table}
    label="rates"
    items=${known.rates.filter(({ bucket, accepted, refused }) => bucket || accepted + refused > 0)}
    columns=${rateColumns}
  />
</div>`;

/** @type {readonly Column<Known["faults"][number]>[]} */
const faultColumns = [
  ["On", "endpoint", ({ on }) => on],
  ["Fault", "fault", ({ kind }) => kind],
  ["Times left", "number", ({ times }) => countText(times)],
  ["Calls before", "number spare", ({ after }) => countText(after)],
  ["Status", "number spare", ({ status = "–" }) => status],
];

/** A switch with its value. @typedef {readonly [name: string, value: unknown, usual: unknown, doc: string]} Switch */

/** @type {readonly Column<Switch>[]} */
const switchColumns = [
  ["Switch", "endpoint", ([name]) => name],
  [
    "Value",
    "fault",
    ([, value]) => String(value),
    ([, value, usual]) => (value === usual ? undefined : "wait"),
  ],
  ["Decides", "doc spare", ([, , , doc]) => doc],
];

/** The pending faults, and the switches for what is uncertain about the service. @param {{ readonly page: Page }} props */
export const FaultsView = ({ page: { known } }) => {
  const values = new Map(Object.entries(known.switches));
  const switches = Object.entries(known.tables.switches).map(
    ([name, { doc, default: usual }]) =>
      /** @type {Switch} */ ([name, values.get(name), usual, doc]),
  );
  return html`<div class="scroller sheet">
    <h2>Pending faults</h2>
    <${Table} label="faults" items=${known.faults} columns=${faultColumns} />
    <h2>Switches</h2>
    <${Table} label="switches" items=${switches} columns=${switchColumns} />
    <p class="quiet">Tests request faults and turn switches through the control interface: docs/emulator.md, Faults.</p>
  </div>`;
};
