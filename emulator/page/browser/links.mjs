import { element, foreignText } from "./elements.mjs";
import { titleOf } from "./graph.mjs";

/** @import { LogName, Page } from "./page.mjs" */

/** An address of this page. @param {string} view @param {readonly string[]} steps */
const linkTo = (view, ...steps) => `#${[view, ...steps].map(encodeURIComponent).join("/")}`;

/** The link to a conversation. @param {string} id */
export const linkToConversation = (id) => linkTo("conversations", id);

/** The link to an object. @param {string} key such as `channels/<id>` */
export const linkToObject = (key) => linkTo("objects", ...key.split("/"));

/** The link to a log entry. @param {LogName} log @param {number} place */
export const linkToEntry = (log, place) => linkTo(log, String(place));

/** The link to the log entries about a subject. @param {LogName} log @param {string} subject */
export const linkToEntriesOf = (log, subject) => linkTo(log, "of", ...subject.split("/"));

/** The noun and name of a subject, and the link to it, if any. @param {Page} page @param {string} subject */
export const subjectParts = (page, subject) => {
  const [collection = "", ...rest] = subject.split("/");
  const id = rest.join("/");
  if (collection === "messages") return { noun: "message", name: id, href: undefined };
  if (collection === "conversations") {
    const { customer = "" } = page.state.conversationOf(id) ?? {};
    return { noun: "conversation", name: customer || id, href: linkToConversation(id) };
  }
  const object = page.state.objectOf(subject);
  return {
    noun: page.nounOf(collection),
    name: object ? titleOf(object) : id,
    href: object && linkToObject(subject),
  };
};

/** A subject as a list item: its name, linked if possible, followed by any additional links. @param {Page} page @param {string} subject @param {readonly (Node | string)[]} more */
export const subjectItem = (page, subject, ...more) => {
  const { noun, name, href } = subjectParts(page, subject);
  const title = foreignText(name);
  return element(
    "li",
    {},
    href === undefined ? title : element("a", { href }, title),
    element("span", { class: "quiet" }, ` ${noun}`),
    ...more.flatMap((each) => [" · ", each]),
  );
};
