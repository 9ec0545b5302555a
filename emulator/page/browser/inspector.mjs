import {
  counted,
  dayTime,
  element,
  foreignText,
  inertJson,
  paragraph,
  wholeText,
} from "./elements.mjs";
import { linkToEntriesOf, linkToEntry, subjectItem } from "./links.mjs";
import { isRecord } from "./page.mjs";

/** @import { ShownCall, WithSubjects } from "../../http/call-log.js" */
/** @import { ShownDelivery } from "../../runtime/deliveries.js" */
/** @import { InspectedCall } from "../inspected-call.js" */
/** @import { Child } from "./elements.mjs" */
/** @import { LogName, Page } from "./page.mjs" */

/** What the panel beside a list shows: its title first. @typedef {readonly [version: string, make: () => readonly Child[]]} Details */

/** Where the cause of a refusal can be looked at, by the section that explains the refusal. @type {Readonly<Record<string, readonly [view: string, title: string]>>} */
const causes = {
  THROTTLED: ["rates", "Rates"],
  CREDENTIALS_REFUSED: ["connect", "Connect"],
};

/** The rule that refused a call, and where the documentation explains it. @param {ShownCall} entry @param {InspectedCall} call */
const refusalSection = ({ reason = "" }, { explanation, answer }) => {
  if (!explanation) return undefined;
  const { rule, page, section } = explanation;
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
    paragraph("quiet", `docs/${page}, ${section}`),
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

/** A link to the call that sent a message. @param {Page} page @param {string} messageId */
const sendingCallLink = ({ state: { calls } }, messageId) => {
  const subject = `messages/${messageId}`;
  const index = calls.entries.findLastIndex(({ subjects }) => subjects.includes(subject));
  const href = linkToEntry("calls", calls.first + index);
  return index >= 0 && element("p", {}, element("a", { href }, "The call that sent the message"));
};

/** A callback's response, or why there is none. @param {Pick<ShownDelivery, "status" | "error">} entry */
export const deliveryOutcome = ({ status, error }) =>
  status === undefined ? (error ?? "no response") : String(status);

/** The outcome, without a word that the adjacent text already contains. @param {Pick<ShownDelivery, "status" | "error">} entry */
export const shortOutcome = (entry) => deliveryOutcome(entry).replace(/^undeliverable: /, "");

/** Whether a callback accepted the message. @param {Pick<ShownDelivery, "failure">} entry */
export const isDelivered = ({ failure }) => !failure;

/** The last attempts of the deliveries that failed so far, the newest first. @template {Pick<ShownDelivery, "delivery" | "failure">} T @param {readonly T[]} entries */
export const undelivered = (entries) => {
  const seen = new Set();
  return entries.toReversed().filter((entry) => {
    const isLast = !seen.has(entry.delivery);
    seen.add(entry.delivery);
    return isLast && !isDelivered(entry);
  });
};

/** Why an attempt failed, and what to do next; undefined if it succeeded. @param {Page} page @param {Pick<ShownDelivery, "failure">} entry */
export const reasonFor = ({ tables }, { failure }) =>
  failure && tables.deliveryFailures[failure.cause];

/** What became of a delivery after a failed attempt. @param {readonly Pick<ShownDelivery, "delivery" | "attempt" | "failure">[]} entries @param {Pick<ShownDelivery, "delivery" | "attempt" | "failure">} entry @returns {{ readonly isDelivered: boolean, readonly text: string }} */
export const afterFailure = (entries, { delivery, attempt, failure }) => {
  const last = entries.findLast((entry) => entry.delivery === delivery);
  if (last && isDelivered(last))
    return { isDelivered: true, text: `Attempt ${last.attempt} delivered the message.` };
  const said = () => {
    if (last && last.attempt > attempt) return `Attempt ${last.attempt} failed, too.`;
    if (attempt === 0) return "The service does not attempt delivery.";
    return failure?.isRetried ? "The service will try again." : "This was the last attempt.";
  };
  return { isDelivered: false, text: said() };
};

/** @param {ShownDelivery} entry */
const outcomeText = ({ status, error = "unknown", attempt }) => {
  if (status !== undefined) return `Returned ${status}`;
  return attempt === 0 ? error : `No response: ${error}`;
};

/** @param {Page} page @param {ShownDelivery} entry @param {ReturnType<typeof afterFailure>} after */
const failureSection = (page, entry, after) => {
  const failure = reasonFor(page, entry);
  if (!failure) return undefined;
  const { fault, tokenUrl } = entry.failure ?? {};
  const said = fault === undefined ? "" : ` (fault: ${fault})`;
  return element(
    "section",
    { class: "refusal" },
    element("h3", {}, "Why the attempt failed"),
    paragraph("rule", failure.rule),
    element("p", {}, foreignText(outcomeText(entry)), said),
    tokenUrl !== undefined && element("p", {}, "Token URL: ", foreignText(tokenUrl)),
    element("p", {}, after.text),
    !after.isDelivered && paragraph("", failure.next),
  );
};

/** Details of one delivery attempt: its outcome and its subjects. @param {Page} page @param {ShownDelivery} entry @returns {Details} */
export const deliveryDetails = (page, entry) => {
  const { url, type, at, attempt, messageId } = entry;
  const tried = attempt === 0 ? "not attempted" : `attempt ${attempt}`;
  const after = afterFailure(page.state.deliveries.entries, entry);
  const make = () => [
    element("h2", { tabindex: -1 }, foreignText(type)),
    paragraph("quiet", `${dayTime(at)} · ${tried} · `, foreignText(url || "nowhere")),
    failureSection(page, entry, after) ?? element("p", {}, foreignText(outcomeText(entry))),
    sendingCallLink(page, messageId),
    subjectSection(page, entry, "deliveries"),
  ];
  return [`${knownNames(page, entry)} ${after.text}`, make];
};
