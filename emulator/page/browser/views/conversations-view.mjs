import { choice, element, fill, labelled, setAttributes, setText } from "../elements.mjs";
import { clockTime, counted, countText } from "../times.mjs";
import { virtualList } from "../virtual-list.mjs";
import { composer } from "./composer.mjs";
import { transcript } from "./transcript.mjs";

/** @import { ConversationAddress, ConversationSummary } from "../../shown-conversations.js" */
/** @import { Page } from "../page.mjs" */

/** @type {Readonly<Record<ConversationSummary["phase"], string>>} */
const phases = { bot: "with a bot", agent: "with an agent", ended: "ended" };

/** @param {ConversationSummary} conversation @param {{ readonly text: string, readonly phase: string }} filter */
export const isConversationWanted = ({ id, phase, customer, address, channelType }, filter) =>
  (filter.phase === "" ||
    (filter.phase === "running" ? phase !== "ended" : phase === filter.phase)) &&
  `${customer} ${address} ${channelType} ${id}`
    .toLowerCase()
    .includes(filter.text.toLowerCase().trim());

/** Where a new conversation begins. @param {Page} page */
const startForm = (page) => {
  const account = element("select");
  const customer = element("input", {
    value: "Ada Example",
    required: true,
    maxlength: 255,
    autocomplete: "off",
  });
  const none = element(
    "p",
    { class: "empty" },
    "There is no account in use yet, on which a conversation could begin.",
  );
  /** @type {readonly ConversationAddress[] | undefined} */
  let offered;
  const form = composer(page, {
    label: "Start a conversation",
    send: "Start",
    isStart: true,
    before: [labelled("On the account", account), labelled("Customer", customer)],
    customer: () => customer.value,
    conversation: () => {
      const chosen = page.state.addresses[Number(account.value)];
      return {
        account: { channel: { type: chosen?.channelType ?? "" }, address: chosen?.address ?? "" },
        customer: { name: customer.value },
      };
    },
  });
  const view = element(
    "section",
    { class: "start" },
    element("h2", {}, "Start a conversation"),
    none,
    form,
  );
  return {
    element: view,
    update: () => {
      const { addresses } = page.state;
      none.hidden = addresses.length > 0;
      form.hidden = addresses.length === 0;
      if (addresses === offered) return;
      offered = addresses;
      const before = account.value;
      fill(
        account,
        ...addresses.map(({ name, address, channelType }, place) =>
          element("option", { value: place }, `${name || address} (${address} on ${channelType})`),
        ),
      );
      if (Number(before) < addresses.length) account.value = before || "0";
    },
  };
};

/** The conversation that is shown, with its composer. @param {Page} page */
const conversationPanel = (page) => {
  const title = element("h2");
  const about = element("p", { class: "quiet" });
  const over = element("p", { class: "over" });
  const messages = transcript(page);
  const summary = () => page.state.conversations.get(page.state.shown.id);
  const form = composer(page, {
    label: "Send a message",
    send: "Send",
    customer: () => summary()?.customer ?? "",
    conversation: () => ({ id: page.state.shown.id }),
  });
  const back = element("a", { href: "#conversations", class: "button back" }, "All conversations");
  const view = element(
    "section",
    { class: "conversation" },
    element("header", {}, back, title, about),
    messages.element,
    over,
    form,
  );
  return {
    element: view,
    update: () => {
      const { shown } = page.state;
      const known = summary();
      setText(
        title,
        known
          ? known.customer || "Nameless customer"
          : shown.isKnown && !shown.isThere
            ? "No such conversation"
            : "Conversation",
      );
      const phase =
        known &&
        (shown.isCompleted && known.phase !== "ended"
          ? "completed: idle for too long"
          : phases[known.phase]);
      setText(
        about,
        known
          ? `${phase} · ${known.address} on ${known.channelType} · ${counted(known.messages, "message")} · ${known.id}`
          : "",
      );
      setText(
        over,
        shown.isCompleted ? "The conversation is completed: nothing more can be sent." : "",
      );
      form.hidden = shown.isCompleted || (shown.isKnown && !shown.isThere);
      messages.update();
    },
  };
};

/** @param {ConversationSummary} conversation */
const listItem = ({ id, phase, customer, address, messages, modified }) =>
  element(
    "div",
    { role: "listitem", class: "item" },
    element(
      "a",
      { href: `#conversations/${id}`, "data-id": id },
      element("span", { class: "name" }, customer || "Nameless customer"),
      element("time", { datetime: modified }, clockTime(modified)),
      element(
        "span",
        { class: "said" },
        `${phases[phase]} · ${address} · ${counted(messages, "message")}`,
      ),
    ),
  );

/** All conversations, and one of them as a chat. @param {Page} page */
export const conversationsView = (page) => {
  const text = element("input", {
    type: "search",
    placeholder: "customer, address or id",
    autocomplete: "off",
  });
  const phase = choice([
    ["", "all"],
    ["running", "running"],
    ["bot", "with a bot"],
    ["agent", "with an agent"],
    ["ended", "ended"],
  ]);
  const count = element("p", { class: "count" });
  const empty = element("p", { class: "empty" });
  const list = virtualList({
    rowHeight: 62,
    attributes: { "aria-label": "Conversations", role: "region" },
    inner: { role: "list" },
    keyOf: (/** @type {ConversationSummary} */ { id }) => id,
    make: listItem,
  });
  const [start, panel] = [startForm(page), conversationPanel(page)];
  const none = element("p", { class: "empty" }, "Choose a conversation, or start one.");
  const side = element("div", { class: "side" });
  const filters = element(
    "form",
    { class: "filters", submit: (event) => event.preventDefault() },
    labelled("Search", text),
    labelled("State", phase),
    count,
  );
  const all = element(
    "div",
    { class: "all" },
    element("a", { href: "#conversations/new", class: "button main" }, "Start a conversation"),
    filters,
    empty,
    list.element,
  );
  const view = element("div", { class: "conversations" }, all, side);

  const showList = () => {
    const known = [...page.state.conversations.values()].reverse();
    const wanted = known.filter((each) =>
      isConversationWanted(each, { text: text.value, phase: phase.value }),
    );
    setText(
      count,
      wanted.length === known.length
        ? countText(known.length)
        : `${countText(wanted.length)} of ${countText(known.length)}`,
    );
    setText(
      empty,
      known.length === 0
        ? "No conversations yet."
        : wanted.length === 0
          ? "None fits the filters."
          : "",
    );
    list.element.hidden = wanted.length === 0;
    list.show(wanted);
  };

  const update = () => {
    const [id = ""] = page.rest;
    const shown = id === "" ? none : id === "new" ? start.element : panel.element;
    if (side.firstChild !== shown) fill(side, shown);
    view.classList.toggle("one", id !== "");
    showList();
    for (const link of list.element.querySelectorAll("a"))
      setAttributes(link, { "aria-current": link.dataset.id === id ? "true" : undefined });
    if (id === "new") start.update();
    else if (id !== "") panel.update();
  };
  for (const control of [text, phase]) control.addEventListener("input", showList);
  return { element: view, update };
};
