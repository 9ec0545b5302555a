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
} from "./elements.mjs";
import { linkToEntriesOf, linkToEntry, subjectItem } from "./links.mjs";
import { isRecord } from "./page.mjs";

/** @import { ShownCall, WithSubjects } from "../../http/call-log.js" */
/** @import { ShownDelivery } from "../../runtime/deliveries.js" */
/** @import { InspectedCall } from "../inspected-call.js" */
/** @import { Child } from "./elements.mjs" */
/** @import { Page } from "./page.mjs" */

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
    element("h3", {}, "Why it was refused"),
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

/** @param {string} title @param {InspectedCall["sent"]} body @param {string} nothing said if there is none */
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

/** What an entry is about, each with the entries about it. @param {Page} page @param {WithSubjects} entry @param {"calls" | "deliveries"} log whose entries it is one of */
const subjectSection = (page, { subjects }, log) => {
  const items = subjects.map((subject) => {
    const isMessage = subject.startsWith("messages/");
    const links = (isMessage ? ["calls", "deliveries"] : [log]).map((each) =>
      element("a", { href: linkToEntriesOf(each, subject) }, each),
    );
    return subjectItem(page, subject, ...links);
  });
  if (items.length === 0) return undefined;
  const list = element("ul", { class: "plain" }, ...items);
  return element("section", {}, element("h3", {}, "What it is about"), list);
};

/** Whether what an entry is about is known by name yet. @param {Page} page @param {WithSubjects} entry */
const knownNames = ({ state }, { subjects }) =>
  JSON.stringify(subjects.map((subject) => state.objectOf(subject)?.name));

/** One call: request and response, what refused it, and what it is about. @param {Page} page @param {ShownCall} entry @returns {Details} */
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
              paragraph("quiet", `A fault was asked for: ${inspected.fault}.`),
            bodySection("Sent", inspected.sent, "No body was sent."),
            bodySection("Received", inspected.answer, "The response has no body."),
            paragraph("quiet", "Secrets are hidden."),
          ]
        : [paragraph("quiet", "…")]),
    ];
  };
  return [`${inspected?.place} ${knownNames(page, entry)}`, make];
};

/** The call that sent a message. @param {Page} page @param {string} subject */
const sendingCall = ({ state: { calls } }, subject) => {
  const index = calls.entries.findLastIndex(({ subjects }) => subjects.includes(subject));
  return index < 0 ? undefined : linkToEntry("calls", calls.first + index);
};

/** One attempt to deliver: how it ended, and what it is about. @param {Page} page @param {ShownDelivery} entry @returns {Details} */
export const deliveryDetails = (page, entry) => {
  const { url, type, at, attempt, messageId, status, error } = entry;
  const make = () => {
    const outcome =
      status === undefined ? `No response: ${error ?? "unknown"}` : `Returned ${status}`;
    const href = sendingCall(page, `messages/${messageId}`);
    return [
      element("h2", { tabindex: -1 }, foreignText(type)),
      paragraph("quiet", `${dayTime(at)} · try ${attempt} · `, foreignText(url || "nowhere")),
      element("p", {}, foreignText(outcome)),
      href !== undefined && element("p", {}, element("a", { href }, "The call that sent it")),
      subjectSection(page, entry, "deliveries"),
    ];
  };
  return [knownNames(page, entry), make];
};
