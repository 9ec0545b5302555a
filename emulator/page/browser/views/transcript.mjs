import { element, fill, keepRows } from "../elements.mjs";
import { shownMessage } from "../message-text.mjs";
import { clockTime, counted } from "../times.mjs";
import { deliveryOutcome, isDelivered } from "./deliveries-view.mjs";

/** @import { DeliveryEntry } from "../../../runtime/callbacks/deliveries.js" */
/** @import { ShownMessage } from "../message-text.mjs" */
/** @import { Page } from "../page.mjs" */

/** So many of the last messages are shown at once; earlier ones when they are asked for. */
const atOnce = 200;

/** @typedef {{ readonly message: ShownMessage, readonly delivery: string, readonly tone: string }} Line */

/** What became of the deliveries of each message. @param {readonly DeliveryEntry[]} entries */
const lastDeliveries = (entries) => new Map(entries.map((entry) => [entry.messageId, entry]));

/** @param {DeliveryEntry | undefined} entry */
const deliveryText = (entry) => {
  if (!entry) return "";
  const attempts = entry.attempt > 1 ? `, try ${entry.attempt}` : "";
  return isDelivered(entry)
    ? `delivered${attempts}`
    : `not delivered: ${deliveryOutcome(entry)}${attempts}`;
};

/** @param {Line} line */
const eventRow = ({ message }) =>
  element(
    "li",
    { class: "event" },
    element(
      "span",
      {},
      [message.name || message.sender, message.type, message.text].filter(Boolean).join(" · "),
    ),
    message.json !== "" && element("code", {}, message.json.replace(/\s+/g, " ")),
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
      element("strong", {}, message.name || message.sender),
      message.name !== "" && ` ${message.sender}`,
      message.type !== "text" && ` · ${message.type}`,
    ),
    message.text !== "" && element("p", { class: "text" }, message.text),
    message.attachments.length > 0 &&
      element(
        "ul",
        { class: "files", "aria-label": "Attachments" },
        ...message.attachments.map((name) => element("li", {}, name)),
      ),
    message.json !== "" && element("pre", {}, message.json),
    element(
      "p",
      { class: "quiet" },
      element("time", { datetime: message.time }, clockTime(message.time)),
      message.recipients !== "" && ` to ${message.recipients}`,
      delivery !== "" && element("span", { "data-tone": tone }, ` · ${delivery}`),
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
  const view = element("div", { class: "transcript" }, earlier, log);
  /** @type {Map<string, { readonly item: Line, readonly row: HTMLElement }>} */
  const rows = new Map();
  /** @type {Map<string, Line>} */
  let lines = new Map();
  let conversation = "";
  let most = atOnce;

  /** The same line as before where nothing of it changed, so that its element stays. @param {ShownMessage} message @param {DeliveryEntry | undefined} entry */
  const lineOf = (message, entry) => {
    const known = lines.get(message.id);
    const delivery = deliveryText(entry);
    if (known && known.delivery === delivery) return known;
    const line = { message, delivery, tone: entry && isDelivered(entry) ? "good" : "bad" };
    lines.set(message.id, line);
    return line;
  };

  const update = () => {
    const { shown, deliveries } = page.state;
    const isOther = shown.id !== conversation;
    if (isOther) {
      [conversation, most, lines] = [shown.id, atOnce, new Map()];
      rows.clear();
      fill(list);
    }
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    const hidden = Math.max(0, shown.messages.length - most);
    earlier.hidden = hidden === 0;
    fill(earlier, `Show ${counted(Math.min(hidden, atOnce), "earlier message")}`);
    const last = lastDeliveries(deliveries.entries);
    const wanted = shown.messages.slice(hidden).map((each) => {
      const message = shownMessage(each);
      return /** @type {const} */ ([message.id, lineOf(message, last.get(message.messageId))]);
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
