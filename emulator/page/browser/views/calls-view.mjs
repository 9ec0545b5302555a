import { choice, element, labelled } from "../elements.mjs";
import { clockTime } from "../times.mjs";
import { entryTable } from "./entry-table.mjs";

/** @import { ShownCall } from "../../../http/call-log.js" */
/** @import { Page } from "../page.mjs" */

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
