import { choice, element, labelled } from "../elements.mjs";
import { clockTime } from "../times.mjs";
import { toneOf } from "./calls-view.mjs";
import { entryTable } from "./entry-table.mjs";

/** @import { DeliveryEntry } from "../../../runtime/deliveries.js" */
/** @import { Page } from "../page.mjs" */

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
