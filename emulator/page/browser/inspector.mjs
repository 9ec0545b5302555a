import { docLine, docLink, readDoc, sectionOf } from "./docs.mjs";
import {
  counted,
  dayTime,
  element,
  foreignText,
  group,
  inertJson,
  paragraph,
  wholeText,
  withCode,
} from "./elements.mjs";
import { linkToEntriesOf, linkToEntry, subjectItem } from "./links.mjs";
import { isRecord } from "./page.mjs";

/** @import { ShownCall, WithSubjects } from "../../http/call-log.js" */
/** @import { ShownDelivery, ShownMail } from "../../runtime/deliveries.js" */
/** @import { InspectedCall } from "../inspected-call.js" */
/** @import { Child } from "./elements.mjs" */
/** @import { LogName, Page } from "./page.mjs" */

/** What the panel beside a list shows: its title first. @typedef {readonly [version: string, make: () => readonly Child[]]} Details */

/** Where the cause of a refusal can be looked at, by the section that explains it. @type {Readonly<Record<string, readonly [view: string, title: string]>>} */
const causes = {
  THROTTLED: ["rates", "Rates"],
  Faults: ["faults", "Faults"],
  CREDENTIALS_REFUSED: ["connect", "Connect"],
};

/** The rule that refused a call, and what the documentation says of it. @param {ShownCall} entry @param {InspectedCall} call */
const refusalSection = ({ reason = "" }, { explanation, answer, kind }) => {
  if (!explanation) return undefined;
  const { rule, page, section } = explanation;
  const more = group("doc");
  void readDoc(page).then(
    (text) =>
      more.append(...sectionOf(text, section).map((line) => paragraph("", ...docLine(line)))),
    () => {},
  );
  const body = answer?.json;
  const details =
    isRecord(body) && Array.isArray(body.details) ? body.details.filter(isRecord) : [];
  const { [section]: cause } = causes;
  return element(
    "section",
    { class: "refusal" },
    element("h3", {}, "Why the call was refused"),
    paragraph("rule", rule),
    reason !== "" && element("p", {}, foreignText(reason)),
    details.length > 1 &&
      element(
        "ul",
        {},
        ...details.map(({ key, value }) =>
          element(
            "li",
            {},
            element("code", {}, foreignText(String(key))),
            ": ",
            foreignText(String(value)),
          ),
        ),
      ),
    cause && element("p", {}, "See ", element("a", { href: `#${cause[0]}` }, cause[1]), "."),
    more,
    element(
      "p",
      { class: "quiet" },
      docLink(page, section),
      kind !== undefined && section === "REJECTED" && " · ",
      kind !== undefined && section === "REJECTED" && docLink("resources.md", kind),
    ),
  );
};

/** @param {string} title @param {InspectedCall["sent"]} body @param {string} nothing shown if there is none */
const bodySection = (title, body, nothing) => {
  const size = body ? `${title}, ${counted(body.size, "byte")}` : title;
  const attributes = { tabindex: 0, "aria-label": title, dir: "ltr" };
  return element(
    "section",
    {},
    element("h3", {}, size),
    !body && paragraph("quiet", nothing),
    body?.note !== undefined && paragraph("quiet", `Not shown: it ${body.note}.`),
    ...(body?.json === undefined ? [] : wholeText("pre", inertJson(body.json), attributes)),
  );
};

/** What an entry is about, each with the entries about it. @param {Page} page @param {WithSubjects} entry @param {LogName} log whose entries it is one of */
const subjectSection = (page, { subjects }, log) => {
  const items = subjects.map((subject) => {
    const isMessage = subject.startsWith("messages/");
    /** @type {readonly LogName[]} */
    const logs = isMessage ? ["calls", "deliveries"] : [log];
    const links = logs.map((each) => element("a", { href: linkToEntriesOf(each, subject) }, each));
    return subjectItem(page, subject, ...links);
  });
  if (items.length === 0) return undefined;
  const list = element("ul", { class: "plain" }, ...items);
  return element("section", {}, element("h3", {}, "Related items"), list);
};

/** Whether what an entry is about is known by name yet. @param {Page} page @param {WithSubjects} entry */
const knownNames = ({ state }, { subjects }) =>
  JSON.stringify(subjects.map((subject) => state.objectOf(subject)?.name));

/** Details of one call: its request and response, the reason for any refusal, and its subjects. @param {Page} page @param {ShownCall} entry @returns {Details} */
export const callDetails = (page, entry) => {
  const { inspected } = page.state;
  const make = () => {
    const { method, path, status, at, ms, clientId } = entry;
    const answered = status === 0 ? "no response" : `returned ${status}`;
    const about = [
      `${answered} · ${dayTime(at)} · ${ms} ms`,
      ...(clientId === undefined ? [] : [" · ", foreignText(clientId)]),
    ];
    return [
      element("h2", { tabindex: -1 }, foreignText(`${method} ${path}`)),
      paragraph("quiet", ...about),
      inspected && refusalSection(entry, inspected),
      subjectSection(page, entry, "calls"),
      ...(inspected
        ? [
            inspected.fault !== undefined &&
              paragraph("quiet", `A fault was requested: ${inspected.fault}.`),
            bodySection("Sent", inspected.sent, "No body was sent."),
            bodySection("Received", inspected.answer, "The response has no body."),
            paragraph("quiet", "Secrets are hidden."),
          ]
        : [paragraph("quiet", "…")]),
    ];
  };
  return [`${inspected?.place} ${knownNames(page, entry)}`, make];
};

/** The last entry of a log about a subject. @param {Page} page @param {"calls" | "deliveries"} log @param {string} subject @param {string} title */
const lastEntryLink = ({ state }, log, subject, title) => {
  const { [log]: list } = state;
  const index = list.entries.findLastIndex(({ subjects }) => subjects.includes(subject));
  const href = linkToEntry(log, list.first + index);
  return index >= 0 && element("p", {}, element("a", { href }, title));
};

/** A callback's response, or why there is none. @param {Pick<ShownDelivery, "status" | "error">} entry */
export const deliveryOutcome = ({ status, error }) =>
  status === undefined ? (error ?? "no response") : String(status);

/** The outcome, without a word that the adjacent text already contains. @param {Pick<ShownDelivery, "status" | "error">} entry */
export const shortOutcome = (entry) => deliveryOutcome(entry).replace(/^undeliverable: /, "");

/** Whether a callback accepted the message: only a 2xx counts. @param {Pick<ShownDelivery, "status">} entry */
export const isDelivered = ({ status = 0 }) => status >= 200 && status <= 299;

/** Position of the last failed attempt for a message that no later attempt delivered; negative if there is none. @param {readonly Pick<ShownDelivery, "messageId" | "url" | "status">[]} entries */
export const lastUndelivered = (entries) => {
  const delivered = new Set();
  return entries.findLastIndex((entry) => {
    const key = `${entry.messageId} ${entry.url}`;
    if (isDelivered(entry)) delivered.add(key);
    return !delivered.has(key);
  });
};

/** Why a delivery failed, and what to do next. @typedef {{ readonly fits: (entry: Pick<ShownDelivery, "status" | "error" | "fault" | "attempt">) => boolean, readonly rule: string, readonly next: string }} DeliveryFailure */

/** Reasons why deliveries fail. The first reason that matches an attempt explains its failure; the last reason matches all attempts. @type {readonly DeliveryFailure[]} */
export const deliveryFailures = [
  {
    fits: ({ fault }) => fault !== undefined,
    rule: "A fault was requested.",
    next: "The Faults view lists the pending faults.",
  },
  {
    fits: ({ attempt }) => attempt === 0,
    rule: "There is no callback for the message.",
    next: "Give a client application the role, add the application to the orchestration, and apply the program again.",
  },
  {
    fits: ({ error = "" }) => /^(no token|the role's authentication)/.test(error),
    rule: "The service could not log in to the callback.",
    next: "Correct the role's authentication, and apply the program again.",
  },
  {
    fits: ({ status = 0 }) => [401, 403].includes(status),
    rule: "The callback refused the login.",
    next: "Compare the role's authentication with the credentials that the bot accepts.",
  },
  {
    fits: ({ status = 0 }) => [404, 405].includes(status),
    rule: "The bot does not serve this URL.",
    next: "Compare the path of `callback` with the path that the bot serves.",
  },
  {
    fits: ({ status = 0 }) => status >= 300 && status < 400,
    rule: "The callback redirects, which the service does not follow.",
    next: "Set `callback` to the final URL, and apply the program again.",
  },
  {
    fits: ({ status = 0 }) => status > 0,
    rule: "The bot refused the message, or failed.",
    next: "Its log shows why. Fix the bot, and send the message again.",
  },
  {
    fits: ({ error = "" }) => error.startsWith("no response within"),
    rule: "The bot did not respond in time.",
    next: "Have it respond with 200 first, and do the work afterward.",
  },
  {
    fits: () => true,
    rule: "The callback could not be reached.",
    next: "Start the bot, and check that it listens on the host and port of `callback`.",
  },
];

/** @param {ShownDelivery} entry */
const outcomeText = ({ status, error = "unknown", attempt }) => {
  if (status !== undefined) return `Returned ${status}`;
  return attempt === 0 ? error : `No response: ${error}`;
};

/** The section of the documentation that explains faults. */
export const faultDoc = { page: "emulator.md", section: "Faults" };

/** @param {Page} page @param {ShownDelivery} entry */
const failureSection = ({ tables }, entry) => {
  const failure = isDelivered(entry) ? undefined : deliveryFailures.find(({ fits }) => fits(entry));
  if (!failure) return undefined;
  const { fault, subjects } = entry;
  // The kind that says where a callback is, and how the service logs in there.
  const declared = tables.kinds.find(({ collection }) =>
    subjects.some((subject) => subject.startsWith(`${collection}/`)),
  );
  const said = fault === undefined ? "" : ` (fault: ${fault})`;
  const link = fault
    ? docLink(faultDoc.page, faultDoc.section)
    : declared && docLink("resources.md", declared.kind);
  return element(
    "section",
    { class: "refusal" },
    element("h3", {}, "Why the message was not delivered"),
    paragraph("rule", failure.rule),
    element("p", {}, foreignText(outcomeText(entry)), said),
    paragraph("doc", ...withCode(failure.next)),
    link && paragraph("quiet", link),
  );
};

/** Details of one delivery attempt: its outcome and its subjects. @param {Page} page @param {ShownDelivery} entry @returns {Details} */
export const deliveryDetails = (page, entry) => {
  const { url, type, at, attempt, messageId } = entry;
  const tried = attempt === 0 ? "not tried" : `try ${attempt}`;
  const make = () => [
    element("h2", { tabindex: -1 }, foreignText(type)),
    paragraph("quiet", `${dayTime(at)} · ${tried} · `, foreignText(url || "nowhere")),
    failureSection(page, entry) ?? element("p", {}, foreignText(outcomeText(entry))),
    lastEntryLink(page, "calls", `messages/${messageId}`, "The call that sent it"),
    subjectSection(page, entry, "deliveries"),
  ];
  return [knownNames(page, entry), make];
};

/** Details of one email: its content and its subjects. @param {Page} page @param {ShownMail} entry @returns {Details} */
export const mailDetails = (page, entry) => {
  const { at, to, subject, text, messageId } = entry;
  const make = () => [
    element("h2", { tabindex: -1 }, foreignText(subject)),
    paragraph("quiet", `${dayTime(at)} · to `, foreignText(to), " · not actually sent"),
    ...wholeText("p", text),
    lastEntryLink(page, "deliveries", `messages/${messageId}`, "The last attempt, and what to do"),
    subjectSection(page, entry, "mailbox"),
  ];
  return [knownNames(page, entry), make];
};
