import { Composer, shownMessage } from "./composer.mjs";
import {
  clockTime,
  counted,
  element,
  fill,
  filterBar,
  foreignText,
  group,
  isFound,
  keepRows,
  markedParts,
  paragraph,
  setAttributes,
  setText,
  shortText,
  virtualList,
  wholeText,
} from "./elements.mjs";
import { isDelivered, shortOutcome } from "./inspector.mjs";
import { linkToConversation, linkToEntriesOf, subjectParts } from "./links.mjs";

/** @import { ShownDelivery } from "../../runtime/deliveries.js" */
/** @import { ShownMessage } from "./composer.mjs" */
/** @import { Page, ShownConversation } from "./page.mjs" */
/** @import { ConversationSummary } from "../page-routes.js" */

/** The outcome of the delivery of a message. @param {ShownDelivery} entry */
const deliveryText = (entry) => {
  const attempts = entry.attempt > 1 ? `, attempt ${entry.attempt}` : "";
  return isDelivered(entry)
    ? `delivered${attempts}`
    : `not delivered: ${shortOutcome(entry)}${attempts}`;
};

/** @param {string} time */
const timeOf = (time) => element("time", { datetime: time }, clockTime(time));

/** @param {ShownMessage} message @param {string} sought */
const eventRow = ({ name, sender, type, text, json, time }, sought) =>
  element(
    "li",
    { class: "event" },
    element(
      "span",
      {},
      foreignText(name || sender),
      " · ",
      foreignText(type),
      text !== "" && " · ",
      text !== "" && foreignText(text, sought),
    ),
    json !== "" &&
      element("code", {}, ...markedParts(shortText(json.replace(/\s+/g, " ")), sought)),
    timeOf(time),
  );

/** An attachment, with the link that downloads its asset, or opens what is elsewhere. @param {ShownMessage["attachments"][number]} attachment @param {ReadonlyMap<string, string>} downloads @param {string} sought */
const attachmentItem = ({ text, id, url, host }, downloads, sought) => {
  const path = downloads.get(id);
  const name = foreignText(text, sought);
  if (path === undefined && url === "") return element("li", {}, name);
  if (path !== undefined)
    return element("li", {}, element("a", { href: path, download: "" }, name));
  const link = element("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, name);
  return element("li", {}, link, host !== "" && ` on ${host}`);
};

/** @param {ShownMessage} message @param {ShownDelivery | undefined} delivery @param {ReadonlyMap<string, string>} downloads @param {string} sought */
const speechRow = (message, delivery, downloads, sought) => {
  const { name, sender, side, type, text, json, attachments, time, recipients, messageId } =
    message;
  const tone = delivery && isDelivered(delivery) ? "good" : "bad";
  return element(
    "li",
    { class: "speech", "data-side": side },
    paragraph(
      "quiet",
      element("strong", {}, foreignText(name || sender)),
      name !== "" && " ",
      name !== "" && foreignText(sender),
      type !== "text" && " · ",
      type !== "text" && foreignText(type),
    ),
    ...wholeText("p", text, undefined, sought),
    attachments.length > 0 &&
      element(
        "ul",
        { class: "files", "aria-label": "Attachments" },
        ...attachments.map((each) => attachmentItem(each, downloads, sought)),
      ),
    ...wholeText("pre", json, undefined, sought),
    paragraph(
      "quiet",
      timeOf(time),
      recipients !== "" && " to ",
      recipients !== "" && foreignText(recipients),
      delivery && " · ",
      delivery &&
        element(
          "a",
          { "data-tone": tone, href: linkToEntriesOf("deliveries", `messages/${messageId}`) },
          foreignText(deliveryText(delivery)),
        ),
    ),
  );
};

/** @param {Element} part */
const topOf = (part) => part.getBoundingClientRect().top;

/** The messages of a conversation, as a chat that grows. @param {Page} page */
const transcript = (page) => {
  const list = element("ol", { class: "messages" });
  const attributes = { class: "log", role: "log", "aria-label": "Messages", tabindex: 0 };
  const log = element("div", attributes, list);
  const earlier = paragraph("empty");
  /** @type {import("./elements.mjs").Rows} */
  const rows = new Map();
  /**
   * What was shown last: if it is unchanged, nothing is rebuilt. @type {ShownConversation |
   * undefined}
   */
  let known;
  /** @type {readonly unknown[]} */
  let before = [];

  const update = () => {
    const { shown, deliveries, search, found } = page.state;
    const { excerpt } = found?.get(shown.id) ?? {};
    const isOther = shown !== known;
    const now = [shown.messages, deliveries.entries, search, excerpt];
    if (!isOther && now.every((each, place) => each === before[place])) return;
    if (isOther) {
      rows.clear();
      fill(list);
    }
    const isOpened = rows.size === 0;
    [known, before] = [shown, now];
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    const last = new Map(deliveries.entries.map((entry) => [entry.messageId, entry]));
    const wanted = shown.messages.map((each, index) => {
      const message = shownMessage(each);
      const delivery = last.get(message.messageId);
      const { text, json, attachments } = message;
      const isHit = isFound(search, text, json, ...attachments.map((file) => file.text));
      const sought = isHit ? search : "";
      const make = () =>
        message.isEvent
          ? eventRow(message, sought)
          : speechRow(message, delivery, shown.downloads, sought);
      const key = String(shown.before + index);
      const version = JSON.stringify([delivery && deliveryText(delivery), sought]);
      return /** @type {const} */ ([key, version, make]);
    });
    keepRows(list, rows, wanted);
    const mark = [...list.querySelectorAll("mark")].at(-1);
    const left = shown.before > 0 && `${counted(shown.before, "earlier message")} not shown here.`;
    const isEarlier = left && excerpt !== undefined && !mark;
    const where = isEarlier ? [" Found in one of them: ", foreignText(excerpt, search)] : [];
    fill(earlier, left, ...where);
    const hit = isOpened && mark;
    // Only the log is scrolled: in a small window, what is around it could be, too.
    if (hit) log.scrollTop += topOf(hit) - topOf(log) - log.clientHeight / 2;
    else if (isAtEnd || isOther) log.scrollTop = log.scrollHeight;
  };
  return { element: group("transcript", earlier, log), update };
};

/** @type {Readonly<Record<ConversationSummary["phase"], string>>} */
const phases = { bot: "with a bot", agent: "with an agent", ended: "ended" };

/** Who a conversation is with. @param {ConversationSummary} conversation */
const customerOf = ({ customer }) => customer || "Unnamed customer";

/** @param {Page} page @param {ConversationSummary} conversation @param {boolean} isCompleted */
const aboutParts = (page, conversation, isCompleted) => {
  const { id, phase, subject, address, channelType, messages } = conversation;
  const isIdle = isCompleted && phase !== "ended";
  const { href } = subjectParts(page, subject);
  return [
    `${isIdle ? "completed: idle for too long" : phases[phase]} · `,
    href ? element("a", { href }, foreignText(address)) : foreignText(address),
    " on ",
    foreignText(channelType),
    ` · ${counted(messages, "message")} · `,
    foreignText(id),
    " · ",
    element("a", { href: linkToEntriesOf("calls", `conversations/${id}`) }, "calls"),
    " · ",
    element("a", { href: linkToEntriesOf("deliveries", `conversations/${id}`) }, "deliveries"),
  ];
};

/**
 * Refills an element if that changes its text. @param {HTMLElement} target @param {(Node |
 * string)[]} parts
 */
const refill = (target, ...parts) => {
  const text = parts.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
  if (target.textContent !== text) fill(target, ...parts);
};

/** The conversation that is shown, with its composer. @param {Page} page */
const conversationPanel = (page) => {
  const title = element("h2");
  const about = paragraph("quiet");
  const over = paragraph("over");
  const messages = transcript(page);
  const place = group("place");
  /** Each conversation keeps its draft. @type {Map<string, Composer>} */
  const composers = new Map();
  const back = { href: "#conversations", class: "button back" };
  const header = element("header", {}, element("a", back, "All conversations"), title, about);
  const parts = [header, messages.element, over, place];
  const update = () => {
    const { shown } = page.state;
    const summary = page.state.conversationOf(shown.id);
    const isMissing = shown.isKnown && !shown.isThere;
    const unknown = isMissing ? "No such conversation" : "Conversation";
    refill(title, foreignText(summary ? customerOf(summary) : unknown));
    refill(about, ...(summary ? aboutParts(page, summary, shown.isCompleted) : []));
    const completed = "The conversation has completed, so no more messages can be sent.";
    setText(over, shown.isCompleted ? completed : "");
    const composer = composers.get(shown.id) ?? new Composer(page, shown.id);
    composers.set(shown.id, composer);
    composer.update();
    place.hidden = shown.isCompleted || isMissing;
    if (place.firstChild !== composer.element) fill(place, composer.element);
    messages.update();
  };
  return { element: element("section", { class: "conversation" }, ...parts), update };
};

/** An account, a customer, and the first message of a new conversation. @param {Page} page */
const startPanel = (page) => {
  const composer = new Composer(page, "");
  const title = element("h2", {}, "Start a conversation");
  const none = paragraph(
    "empty",
    "There is no active account yet. To start a conversation, ",
    element("a", { href: "#connect" }, "apply a program"),
    ".",
  );
  const update = () => {
    composer.update();
    none.hidden = page.state.addresses.length > 0;
    composer.element.hidden = !none.hidden;
  };
  const panel = element("section", { class: "start" }, title, none, composer.element);
  return { element: panel, update };
};

/** Whether a conversation is in a wanted state; an empty text: any. @param {Pick<ConversationSummary, "phase">} conversation @param {string} wanted */
export const isConversationWanted = ({ phase }, wanted) => {
  const isInPhase = wanted === "running" ? phase !== "ended" : phase === wanted;
  return wanted === "" || isInPhase;
};

/** @param {ConversationSummary} conversation @param {string} sought */
const listItem = (conversation, sought) => {
  const { id, phase, address, messages, modified, excerpt } = conversation;
  const about = [`${phases[phase]} · `, foreignText(address), ` · ${counted(messages, "message")}`];
  return element(
    "div",
    { role: "listitem", class: "item" },
    element(
      "a",
      { href: linkToConversation(id), "data-id": id },
      element("span", { class: "name" }, foreignText(customerOf(conversation))),
      timeOf(modified),
      element(
        "span",
        { class: "about" },
        ...(excerpt === undefined ? about : [foreignText(excerpt, sought)]),
      ),
    ),
  );
};

/** The list of all conversations, with its filters. @param {Page} page */
const conversationList = (page) => {
  const filters = filterBar(
    {
      noun: "conversation",
      nothing: "No conversations yet.",
      search: ["Search", "message, customer, address, ID"],
      choices: { State: [["", "all"], ["running", "running"], ...Object.entries(phases)] },
    },
    () => {
      page.state.seek(filters.values()[0] ?? "");
      page.lookNow();
      update();
    },
  );
  /** @type {ReturnType<typeof virtualList<ConversationSummary>>} */
  const list = virtualList({
    rowHeight: 62,
    attributes: { "aria-label": "Conversations", role: "region" },
    role: "list",
    keyOf: ({ id }) => id,
    position: (place, count) => ({ "aria-posinset": place + 1, "aria-setsize": count }),
    make: (conversation) => listItem(conversation, page.state.search),
  });
  const update = () => {
    const { conversations, found, latest } = page.state;
    const known = [...(found ?? conversations).values()].reverse();
    const [, phase = ""] = filters.values();
    const wanted = known.filter((each) => isConversationWanted(each, phase));
    filters.count(wanted.length, latest?.conversations.total ?? known.length);
    list.show(wanted);
    const [id] = page.rest;
    for (const link of list.element.querySelectorAll("a"))
      setAttributes(link, { "aria-current": link.dataset.id === id ? "true" : undefined });
  };
  const start = { href: "#conversations/new", class: "button main" };
  const link = element("a", start, "Start a conversation");
  const parts = [link, filters.element, filters.empty, list.element];
  return { element: group("all", ...parts), update };
};

/** All conversations, and the selected one as a chat. @param {Page} page */
export const conversationsView = (page) => {
  const list = conversationList(page);
  const [start, panel] = [startPanel(page), conversationPanel(page)];
  const none = paragraph("empty", "Choose a conversation, or start one.");
  const side = group("side");
  const view = group("conversations", list.element, side);
  const update = () => {
    const [id = ""] = page.rest;
    const part = id === "new" ? start : panel;
    const shown = id === "" ? none : part.element;
    if (side.firstChild !== shown) fill(side, shown);
    view.classList.toggle("one", id !== "");
    list.update();
    if (id !== "") part.update();
  };
  return { element: view, update };
};
