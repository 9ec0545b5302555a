import {
  beginningOf,
  element,
  fill,
  foreignText,
  keepRows,
  setText,
  shortText,
} from "../elements.mjs";
import { shownMessage } from "../message-text.mjs";
import { clockTime, counted, countText } from "../times.mjs";
import { deliveryOutcome, isDelivered } from "./deliveries-view.mjs";

/** @import { DeliveryEntry } from "../../../runtime/deliveries.js" */
/** @import { Json, ShownMessage } from "../message-text.mjs" */
/** @import { Page } from "../page.mjs" */

/** So many of the last messages are shown at once; earlier ones when they are asked for. */
const atOnce = 200;

/** @typedef {{ readonly message: ShownMessage, readonly delivery: string, readonly tone: string }} Line */

/** @param {number} count */
const leftText = (count) => `${counted(count, "earlier message")} not shown here.`;

/** What became of the deliveries of each message. @param {readonly DeliveryEntry[]} entries */
const lastDeliveries = (entries) => new Map(entries.map((entry) => [entry.messageId, entry]));

/** @param {DeliveryEntry | undefined} entry */
const deliveryText = (entry) => {
  if (!entry) return "";
  const attempts = entry.attempt > 1 ? `, try ${entry.attempt}` : "";
  return isDelivered(entry)
    ? `delivered${attempts}`
    : `not delivered: ${deliveryOutcome(entry).replace(/^undeliverable: /, "")}${attempts}`;
};

/** So much of a text is shown at once; the rest where it is asked for. */
const mostText = 4_000;

/** A text in its own direction of writing. @param {"p" | "pre"} tag @param {string} text */
const wholeText = (tag, text) => {
  const attributes = { class: tag === "p" ? "text" : undefined, dir: "auto" };
  const beginning = beginningOf(text, mostText);
  const rest = text.slice(beginning.length);
  const shown = element(tag, attributes, rest === "" ? beginning : `${beginning}…`);
  if (rest === "") return [shown];
  const more = element("summary", {}, `${countText(rest.length)} more characters`);
  return [shown, element("details", {}, more, element(tag, attributes, rest))];
};

/** @param {Line} line */
const eventRow = ({ message }) =>
  element(
    "li",
    { class: "event" },
    element(
      "span",
      {},
      foreignText(message.name || message.sender),
      " · ",
      foreignText(message.type),
      message.text !== "" && " · ",
      message.text !== "" && foreignText(message.text),
    ),
    message.json !== "" && element("code", {}, shortText(message.json.replace(/\s+/g, " "))),
    element("time", { datetime: message.time }, clockTime(message.time)),
  );

/** @param {Line} line */
const speechRow = ({ message, delivery, tone }) =>
  element(
    "li",
    { class: "speech", "data-side": message.side },
    element(
      "p",
      { class: "by" },
      element("strong", {}, foreignText(message.name || message.sender)),
      message.name !== "" && " ",
      message.name !== "" && foreignText(message.sender),
      message.type !== "text" && " · ",
      message.type !== "text" && foreignText(message.type),
    ),
    ...(message.text === "" ? [] : wholeText("p", message.text)),
    message.attachments.length > 0 &&
      element(
        "ul",
        { class: "files", "aria-label": "Attachments" },
        ...message.attachments.map((name) => element("li", {}, foreignText(name))),
      ),
    ...(message.json === "" ? [] : wholeText("pre", message.json)),
    element(
      "p",
      { class: "quiet" },
      element("time", { datetime: message.time }, clockTime(message.time)),
      message.recipients !== "" && " to ",
      message.recipients !== "" && foreignText(message.recipients),
      delivery !== "" && element("span", { "data-tone": tone }, " · ", foreignText(delivery)),
    ),
  );

/** @param {Line} line */
const rowOf = (line) => (line.message.isEvent ? eventRow(line) : speechRow(line));

/** The messages of a conversation, as a chat that grows. @param {Page} page */
export const transcript = (page) => {
  const list = element("ol", { class: "messages" });
  const log = element(
    "div",
    { class: "log", role: "log", "aria-label": "Messages", tabindex: 0 },
    list,
  );
  const earlier = element("button", { type: "button", class: "earlier" });
  const left = element("p", { class: "empty" });
  const view = element("div", { class: "transcript" }, earlier, left, log);
  /** @type {Map<string, { readonly item: Line, readonly row: HTMLElement }>} */
  const rows = new Map();
  /** @type {WeakMap<Json, Line>} */
  const lines = new WeakMap();
  let conversation = "";
  let most = atOnce;
  /** What was shown last: where it is the same, nothing is made anew. @type {readonly unknown[]} */
  let before = [];

  /** The same line as before where nothing of it changed, so that its element stays. @param {Json} json @param {ReadonlyMap<string, DeliveryEntry>} last */
  const lineOf = (json, last) => {
    const known = lines.get(json);
    const message = known?.message ?? shownMessage(json);
    const entry = last.get(message.messageId);
    const delivery = deliveryText(entry);
    if (known && known.delivery === delivery) return known;
    const line = { message, delivery, tone: entry && isDelivered(entry) ? "good" : "bad" };
    lines.set(json, line);
    return line;
  };

  const update = () => {
    const { shown, deliveries } = page.state;
    const isOther = shown.id !== conversation;
    const now = [shown.messages, deliveries.entries, most];
    if (!isOther && now.every((each, place) => each === before[place])) return;
    before = now;
    if (isOther) {
      [conversation, most] = [shown.id, atOnce];
      rows.clear();
      fill(list);
    }
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    const hidden = Math.max(0, shown.messages.length - most);
    earlier.hidden = hidden === 0;
    setText(earlier, `Show ${counted(Math.min(hidden, atOnce), "earlier message")}`);
    setText(left, hidden === 0 && shown.before > 0 ? leftText(shown.before) : "");
    const last = lastDeliveries(deliveries.entries);
    const wanted = shown.messages.slice(hidden).map((json, place) => {
      // By its place: two messages may have one id.
      const key = String(shown.before + hidden + place);
      return /** @type {const} */ ([key, lineOf(json, last)]);
    });
    keepRows(list, rows, wanted, rowOf);
    if (isAtEnd || isOther) log.scrollTop = log.scrollHeight;
  };
  earlier.addEventListener("click", () => {
    const before = log.scrollHeight - log.scrollTop;
    most += atOnce;
    update();
    log.scrollTop = log.scrollHeight - before;
  });
  return { element: view, update };
};
