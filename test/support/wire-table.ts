import { bodies } from "../definition/vendor-facts.js";
import { listKeys } from "./specification.js";
import {
  type Check,
  flag,
  form,
  id,
  list,
  membersOf,
  number,
  object,
  oneOf,
  text,
  words,
} from "./wire-checks.js";

// What the vendor's description of 2026-02-19 says of the 35 operations and of the callbacks, by hand:
// nothing here comes from the client or the emulator.

const any = Number.POSITIVE_INFINITY;
const short = text(1, 255);
const time = form(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/, "a date-time");
const whole = (min: number, max: number) => number(min, max, true);
const count = whole(0, any);
const pairs = (most: number) => list(1, most, object({ "name!": short, "value!": text(1, 1023) }));
const paginationInfo = object({ count, pagenum: count, pagesize: count });

/** What an operation is sent and answers, and the status of a success; no check: there is no body. */
interface Operation {
  readonly sent?: Check | undefined;
  readonly status: number;
  readonly answered?: Check | undefined;
}

type Named = readonly [name: string, Operation];

const operation = (name: string, status: number, sent?: Check, answered?: Check): Named => [
  name,
  { sent, status, answered },
];

const kinds: readonly (readonly [collection: string, kind: string])[] = [
  ["authentications", "Authentication"],
  ["clientapplications", "ClientApplication"],
  ["participants", "Participant"],
  ["channels", "Channel"],
  ["orchestrations", "Orchestration"],
  ["accounts", "Account"],
];

const setUp = kinds.flatMap(([collection, kind]): Named[] => {
  const bodyWith = (more: Readonly<Record<string, Check>>): Check =>
    oneOf(
      ...bodies
        .filter(([each]) => each === kind)
        .map(([, members]) => object({ ...membersOf(members), ...more })),
    );
  const whole = bodyWith({ id, created: time, modified: time });
  const listed = object({ paginationInfo, [listKeys[collection] ?? ""]: list(0, any, whole) });
  return [
    operation(`POST /${collection}`, 201, bodyWith({}), object({ id })),
    operation(`GET /${collection}`, 200, undefined, listed),
    operation(`GET /${collection}/{id}`, 200, undefined, whole),
    operation(`PUT /${collection}/{id}`, 204, bodyWith({ modified: time })),
    operation(`DELETE /${collection}/{id}`, 204),
  ];
});

const senderTypes = ["custom_bot", "platform_bot", "customer", "platform_agent", "custom_agent"];
const senderType = words(...senderTypes);
const participant = object({ name: short, type: words(...senderTypes, "system") });
const side = object({ "type!": senderType, participant });

const richTypes = [
  ..."listpicker timepicker richlink quickreply template form app payment authentication"
    .split(" ")
    .map((name) => `richMessage.${name}`),
];
const types = [
  "text",
  ...richTypes,
  ..."authentication.start authentication.success authentication.failure".split(" "),
  ..."authentication.accept authentication.reject agent.transfer bot.transfer".split(" "),
  ..."queue.transfer pagePush error escalation.transfer escalation.request".split(" "),
  ..."typing.start typing.end agent.join agent.exit agent.available agent.unavailable".split(" "),
  ..."agent.active agent.inactive customer.info customer.active customer.inactive".split(" "),
  ..."customer.exit customer.block cobrowse.start conversation.state".split(" "),
  ..."delete.soft delete.permanent undo conversation.end".split(" "),
];
/** Types of one's own begin with `custom.`. */
const typeOf = (names: readonly string[]): Check => {
  const check = oneOf(words(...names), form(/^custom\../, "a type of one's own"));
  return object({ "value!": check });
};

const content = oneOf(
  ...["text", "html", "json", "xml"].map((name) =>
    object({ [`${name}!`]: text(1, 10_000), redact: flag }),
  ),
);
const link = text(1, 2500);
const attachmentSize = whole(-any, 10_485_760);
const described = { id: short, contentType: short };
const sentAttachment = oneOf(
  object({ ...described, "name!": short, "size!": attachmentSize, "url!": link }),
  object({ "id!": short }),
);
const heardAttachment = object({ ...described, name: short, size: attachmentSize, url: link });
const attribute = object({
  external: flag,
  object: words("activity", "customer"),
  "name!": short,
  "value!": text(1, 2048),
});
const attributes = object({ attribute: list(1, 75, attribute) });
const parent = object({ "id!": id, messageId: short });
const metadata = object({ attributes: pairs(10) });

const contactTypes = ["email", "facebookId", "twitterId", "appleOpaqueId", "other"];
const contact = object({
  "type!": words(...contactTypes, "phone"),
  subType: words("mobile", "office", "home"),
  "address!": short,
});
const contactWord = words(...contactTypes, "phone.mobile", "phone.office", "phone.home");

/** What is known about a conversation, in a request, a callback and a transcript. */
const about = {
  id,
  account: object({
    "channel!": object({ "type!": short, modified: time, id }),
    "address!": short,
    modified: time,
    id,
  }),
  conversationContact: contactWord,
  lookupContact: contactWord,
  entryPoint: object({ "id!": short }),
  customer: object({
    name: short,
    type: words("individual"),
    attributes: pairs(10),
    contacts: object({ "contact!": list(1, 25, contact) }),
  }),
  clientInfo: object({
    timeOffset: whole(-720, 720),
    referrerName: short,
    referrerUrl: text(0, 2500),
  }),
  type: words("survey.form"),
  parent: object({ "id!": id }),
};
const preferredAgent = oneOf(
  object({ "id!": text(1, 36), userName: short }),
  object({ "userName!": short, id: text(1, 36) }),
);

const batch = (most: number, of: Check) => object({ "message!": list(1, most, of) });

/** A message of before, which a request may tell of. */
const toldSide = object({
  "type!": words("custom_bot", "platform_bot", "customer"),
  "participant!": object({ "name!": short }),
});
const toldMessage = object({
  messageId: short,
  "type!": typeOf(["text", ...richTypes, "pagePush", "delete.soft", "delete.permanent", "undo"]),
  content,
  "sender!": toldSide,
  "recipients!": object({ recipient: list(1, 1, toldSide) }),
  attributes,
  parent,
  "sent!": time,
});

const sentMessage = object({
  messageId: short,
  "conversation!": object({
    ...about,
    preferredAgent,
    messages: batch(10, toldMessage),
  }),
  "type!": typeOf([...types, "status.read", "status.delivered"]),
  parent,
  content,
  "sender!": side,
  recipients: object({ recipient: list(1, 1, side) }),
  attachments: object({ attachment: list(1, 5, sentAttachment) }),
  attributes,
});

const heard = {
  id,
  messageId: short,
  type: typeOf(types),
  parent,
  content,
  sender: side,
  recipients: object({ recipient: list(1, 1, side) }),
  attachments: object({ attachment: list(1, 5, heardAttachment) }),
  attributes,
  created: time,
  sent: time,
};

const transcript = (more: Readonly<Record<string, Check>>): Check =>
  object({ paginationInfo, message: list(1, 200, object({ ...heard, ...more })) });

const contentUrl = { id, contentUrlExpiry: time, contentUrl: text(1, any) };

const accepted = batch(10, object({ id, messageId: short, conversation: object({ id }) }));
const status = words("sent", "failed", "retryInProgress", "skipped", "unsupported");
const newAsset = object({
  "channel!": object({ "type!": short }),
  "sender!": object({ "type!": senderType }),
  "name!": short,
  "size!": whole(1, 10_485_760),
});
const asset = { name: short, size: whole(-any, 2 ** 31), contentType: text(0, any) };

/** All of them, by names such as `PUT /channels/{id}`. */
export const wireOperations: ReadonlyMap<string, Operation> = new Map([
  ...setUp,
  operation(
    "POST /conversations/messages",
    202,
    object({ metadata, "messages!": batch(10, sentMessage) }),
    object({ messages: accepted }),
  ),
  operation(
    "GET /conversations/{id}",
    200,
    undefined,
    object({ ...about, messages: transcript({ status }) }),
  ),
  operation("POST /assets", 200, newAsset, object(contentUrl)),
  operation("GET /assets/{id}", 200, undefined, object({ ...contentUrl, ...asset })),
  operation("DELETE /assets/{id}", 204),
]);

export const wireError = object({
  "code!": form(/^\d{3}-\d+$/, "a code such as 400-143"),
  "developerMessage!": text(0, 255),
  details: list(0, 30, object({ "key!": text(0, 255), value: text(0, 255) })),
  userMessage: text(0, 1024),
});

/** Of refusals: 406 is for languages, 409 for a stale `modified` by switch, 429 for rates. */
export const refusalStatuses = [400, 401, 403, 404, 406, 409, 429, 500];

const conversation = object({ ...about, preferredAgent, messages: transcript({}) });
const intent = object({ value: short });

const callback = (message: Readonly<Record<string, Check>>): Check =>
  object({ metadata, messages: batch(200, object({ ...message, conversation, intent })) });

const zoneless = form(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/, "a time without a zone");
const path = form(/^(?!\w+:)/, "a relative path");
const attachmentOfV1 = object({
  id: short,
  name: short,
  mimeType: short,
  size: attachmentSize,
  url: path,
});

/** The body that a role of this version gets. */
export const wireCallbacks = {
  v3: callback(heard),
  v1: callback({
    ...heard,
    content: object({
      "type!": form(/^[\w.+-]+\/[\w.+-]+$/, "a MIME type"),
      "value!": text(0, any),
    }),
    attachments: object({ attachment: list(1, 5, attachmentOfV1) }),
    created: zoneless,
    sent: zoneless,
  }),
};
