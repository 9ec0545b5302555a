import { causeText, sendMessage } from "./emulator.mjs";
import { deliveryOutcome, linkToEntry } from "./logs.mjs";
import * as parts from "./parts.mjs";
import * as texts from "./texts.mjs";
import { useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.mjs";

/** @import { ShownDelivery } from "../../conversations/deliveries.js" */
/** @import { Known } from "./emulator.mjs" */
/** @import { Column, Page } from "./parts.mjs" */

const { Choice, Code, Details, LabelledField, ForeignText, html, linkTo, onValue } = parts;
const { SearchBar, Table } = parts;
const { clockTime, countText, inertJson, isRecord, parsedJson, shortText } = texts;

/** @typedef {Known["conversations"][number]} Conversation */
/** @typedef {Readonly<Record<string, unknown>>} Json */

/** The text found there; empty for anything else. @param {unknown} value @param {string[]} steps */
const textIn = (value, ...steps) => {
  let found = value;
  for (const step of steps) found = isRecord(found) ? found[step] : undefined;
  return typeof found === "string" ? found : "";
};

/** The records of a list within its envelope. @param {unknown} value @param {string} name */
const listIn = (value, name) => (isRecord(value) ? texts.recordsIn(value[name]) : []);

/** An attachment: its text, and the ID of its asset. @param {Json} attachment */
const readAttachment = (attachment) => {
  const [id, url] = [textIn(attachment, "id"), textIn(attachment, "url")];
  const name = textIn(attachment, "name") || url || id;
  const size = typeof attachment.size === "number" ? ` (${attachment.size} bytes)` : "";
  const host = /^https?:/i.test(url) && URL.canParse(url) ? ` on ${new URL(url).host}` : "";
  return { text: name + size + host, id };
};

/** A message as the transcript shows it. @param {Json} message as the service returns it */
export const readMessage = (message) => {
  const { content, attachments } = message;
  const type = textIn(message, "type", "value");
  const json = textIn(content, "json");
  const text = textIn(content, "text") || textIn(content, "html") || textIn(content, "xml");
  const value = json === "" ? content : parsedJson(json);
  const files = listIn(attachments, "attachment").map(readAttachment);
  return {
    messageId: textIn(message, "messageId"),
    type,
    /** The word in the wire format. */
    sender: textIn(message, "sender", "type"),
    name: textIn(message, "sender", "participant", "name"),
    text,
    json: text !== "" || content === undefined ? "" : value === undefined ? json : inertJson(value),
    files,
    time: textIn(message, "created"),
  };
};

/** @param {{ readonly message: ReturnType<typeof readMessage>, readonly delivery: ShownDelivery | undefined, readonly place: number, readonly downloads: Readonly<Record<string, string>> }} props */
const Message = ({ message, delivery, place, downloads }) => {
  const { type, sender, name, text, json, files, time } = message;
  const at = html`<time dateTime=${time}>${clockTime(time)}</time>`;
  const who = html`<strong><${ForeignText} text=${name || sender} /></strong>`;
  const what = type !== "text" && html` · <${ForeignText} text=${type} />`;
  const list = files.map((file) => {
    const shown = html`<${ForeignText} text=${file.text} />`;
    const { [file.id]: path } = downloads;
    return html`<li>${path ? html`<a href=${path} download>${shown}</a>` : shown}</li>`;
  });
  const { failure, attempt = 0 } = delivery ?? {};
  const outcome = delivery && failure ? `not delivered: ${deliveryOutcome(delivery)}` : "delivered";
  const said = attempt > 1 ? `${outcome}, attempt ${attempt}` : outcome;
  const href = linkToEntry("deliveries", place);
  const tone = failure ? "bad" : "good";
  const link = html` · <a data-tone=${tone} href=${href}><${ForeignText} text=${said} /></a>`;
  return html`<li class="speech" data-side=${sender}>
    <p class="quiet">${who}${name && html` <${ForeignText} text=${sender} />`}${what}</p>
    ${text && html`<p class="text" dir="auto">${text}</p>`}
    ${files.length > 0 && html`<ul aria-label="Attachments">${list}</ul>`}
    ${json && html`<${Code} label=${type} value=${json} />`}
    <p class="quiet">${at}${delivery && link}</p>
  </li>`;
};

/** The place of each message's last delivery, by the sender's own ID, which another conversation may have, too. @param {readonly Pick<ShownDelivery, "messageId" | "conversationId">[]} entries @param {string} conversation */
export const findDeliveries = (entries, conversation) =>
  new Map(
    entries.flatMap(({ messageId, conversationId }, index) =>
      conversationId === conversation ? [/** @type {const} */ ([messageId, index])] : [],
    ),
  );

/** The messages of a conversation, as a chat that grows. @param {{ readonly known: Known }} props */
const Transcript = ({ known: { transcript, deliveries } }) => {
  const log = useRef(/** @type {HTMLElement | null} */ (null));
  const isAtEnd = useRef(true);
  const { id = "", messages = [], downloads = {} } = transcript ?? {};
  useLayoutEffect(() => {
    if (isAtEnd.current && log.current) log.current.scrollTop = log.current.scrollHeight;
  });
  const last = findDeliveries(deliveries.entries, id);
  const scrolled = (/** @type {{ currentTarget: HTMLElement }} */ { currentTarget: box }) => {
    isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  };
  return html`<div class="log" role="log" aria-label="Messages" tabindex="0" ref=${log} onScroll=${scrolled}>
    <ol class="plain messages">
      ${messages.map((each, index) => {
        const message = readMessage(each);
        const place = last.get(message.messageId) ?? -1;
        const delivery = { delivery: deliveries.entries[place], place: deliveries.first + place };
        return html`<${Message} key=${index} message=${message} ...${delivery} downloads=${downloads} />`;
      })}
    </ol>
  </div>`;
};

const customer = "Ada Example";
const emptyDraft = { account: "", customer, sender: "", type: "", text: "", said: "" };

/** @typedef {typeof emptyDraft} Draft */

/** The message to send. @param {Draft} draft `text` may be a JSON object, unless the type is `text` @param {Json} conversation @param {string} name the sender's; empty if none */
export const writeMessage = ({ sender, type, text }, conversation, name) => {
  if (type === "text" && text === "") throw new Error("Enter some text.");
  const isJson = type !== "text" && isRecord(parsedJson(text));
  return {
    type: { value: type },
    conversation,
    sender: { type: sender, ...(name && { participant: { name } }) },
    ...(text && { content: isJson ? { json: text } : { text } }),
  };
};

/** Sends messages to a conversation, or starts one as a customer. @param {{ readonly page: Page, readonly id: string, readonly customer: string }} props `id`: empty for a new one */
const Composer = ({ page, id, customer }) => {
  const [draft, set] = useState(emptyDraft);
  const isSending = useRef(false);
  const { tables, account } = page.known;
  const senders = tables.senders.filter(({ type }) => id !== "" || type === "customer");
  const sender = senders.find(({ type }) => type === draft.sender) ?? senders[0];
  const types = sender?.messageTypes ?? [];
  const type = types.find((each) => each === draft.type) ?? types[0] ?? "";
  const addresses = account.addresses.map((each) => JSON.stringify(each));
  const place = addresses.find((each) => each === draft.account) ?? addresses[0] ?? "{}";
  const change = (/** @type {keyof Draft} */ name) => (/** @type {string} */ value) =>
    set((now) => ({ ...now, [name]: value }));
  const send = async () => {
    if (isSending.current) return;
    isSending.current = true;
    const { hash } = location;
    const { address, channelType } = JSON.parse(place);
    const begun = {
      account: { channel: { type: channelType }, address },
      customer: { name: draft.customer },
    };
    const name = sender?.type !== "customer" ? "" : id ? customer : draft.customer;
    try {
      const said = { ...draft, sender: sender?.type ?? "", type };
      const answer = await sendMessage(writeMessage(said, id ? { id } : begun, name));
      // What was typed meanwhile stays.
      set((now) => ({ ...now, said: "", text: now.text === draft.text ? "" : now.text }));
      const [first] = isRecord(answer) ? listIn(answer.messages, "message") : [];
      // If the person has left meanwhile, stay where they are.
      if (id === "" && location.hash === hash)
        location.hash = linkTo("conversations", textIn(first, "conversation", "id"));
    } catch (error) {
      change("said")(causeText(error));
    }
    isSending.current = false;
    page.lookNow();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void send();
  };
  const enter = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  const options = (/** @type {readonly string[]} */ words) => words.map((each) => [each, each]);
  const places = account.addresses.map(({ name, address, channelType }, index) => [
    addresses[index],
    `${shortText(name)} (${shortText(address)} on ${channelType})`,
  ]);
  const start = html`
    <${Choice} label="Account address" value=${place} options=${places} change=${change("account")} />
    <${LabelledField} label="Customer">
      <input value=${draft.customer} maxlength="255" onInput=${onValue(change("customer"))} />
    <//>
  `;
  return html`<form class="composer" aria-label=${id ? "Send a message" : "Start a conversation"} onSubmit=${submit}>
    ${id === "" && start}
    <div class="fields">
      <${Choice} label="Sender" value=${sender?.type} options=${options(senders.map((each) => each.type))} change=${change("sender")} />
      <${Choice} label="Message type" value=${type} options=${options(types)} change=${change("type")} />
    </div>
    <${LabelledField} label=${type === "text" ? "Text" : "Text, or a JSON object"}>
      <textarea rows="2" value=${draft.text} onInput=${onValue(change("text"))} onKeyDown=${enter} />
    <//>
    <div class="bar">
      <button type="submit">${id ? "Send" : "Start"}</button>
      <p class="said" role="status">${draft.said}</p>
      <p class="count">Enter sends, Shift+Enter starts a new line.</p>
    </div>
  </form>`;
};

/** @type {Readonly<Record<Conversation["phase"], string>>} */
const phases = { bot: "with a bot", agent: "with an agent", ended: "ended" };

/** @type {readonly Column<Conversation>[]} */
const columns = [
  ["Customer", "wide", ({ customer }) => customer || "Unnamed customer"],
  ["State", "phase", ({ phase }) => phases[phase]],
  ["Address", "address spare", ({ address }) => address],
  ["Messages", "number spare", ({ messages }) => countText(messages)],
  ["Changed", "time", ({ modified }) => clockTime(modified)],
];

/** The conversation that is shown, with its composer. @param {{ readonly page: Page, readonly id: string }} props */
const Chat = ({ page, id }) => {
  const { known } = page;
  const shown = known.conversations.find((each) => each.id === id);
  const isKnown = known.question.conversation === id;
  const isMissing = isKnown && !known.transcript;
  const title = shown?.customer || (isMissing ? "No such conversation" : "Conversation");
  const about =
    shown &&
    html`<p class="quiet">
    ${known.isCompleted && shown.phase !== "ended" ? "completed: idle for too long" : phases[shown.phase]} ·${" "}
    <a href=${`#objects/${shown.subject}`}><${ForeignText} text=${shown.address} /></a> on${" "}
    <${ForeignText} text=${shown.channelType} /> · <${ForeignText} text=${id} />
  </p>`;
  const over = html`<p class="quiet">The conversation has completed, so no more messages can be sent.</p>`;
  const composer = html`<${Composer} page=${page} id=${id} customer=${shown?.customer ?? ""} />`;
  return html`<${Details} key=${id} label="Chosen conversation" title=${title} close="#conversations">
    ${about}
    ${isKnown && !isMissing && [html`<${Transcript} known=${known} />`, known.isCompleted ? over : composer]}
  <//>`;
};

/** All conversations, and the chosen one as a chat. @param {{ readonly page: Page }} props */
export const ConversationsView = ({ page }) => {
  const { known, rest } = page;
  const [id = ""] = rest;
  const items = useMemo(() => known.conversations.toReversed(), [known.conversations]);
  const { found, ...field } = parts.useSearch(items, (each) => [
    ...[each.id, each.customer, each.address, each.channelType, phases[each.phase]],
  ]);
  const bar = { label: "Customer, address, state, or ID", found: found.length, total: known.total };
  const href = (/** @type {Conversation} */ each) => linkTo("conversations", each.id);
  const canStart = known.account.addresses.length > 0;
  const start = html`<${Details} label="New conversation" title="Start a conversation" close="#conversations">
    ${canStart ? html`<${Composer} page=${page} id="" customer="" />` : "No account is active yet: apply a program."}
  <//>`;
  return html`<div class="view">
    <${SearchBar} ...${bar} ...${field} noun="conversation">
      <a class="button" href="#conversations/new">Start a conversation</a>
    <//>
    <div class=${id === "" ? "beside" : "beside chat"}>
      <${Table} label="conversations" items=${found} columns=${columns} href=${href} />
      ${id === "new" ? start : id !== "" && html`<${Chat} page=${page} id=${id} />`}
    </div>
  </div>`;
};
