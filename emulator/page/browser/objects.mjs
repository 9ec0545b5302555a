import { connectionSteps } from "./connect.mjs";
import {
  counted,
  element,
  fill,
  filterBar,
  foreignText,
  group,
  inertJson,
  isFound,
  keepRows,
  paragraph,
  setText,
  shortText,
  withoutBidi,
} from "./elements.mjs";
import { GraphView, graphKey, titleOf } from "./graph.mjs";
import { linkToConversation, linkToEntriesOf, linkToObject, subjectItem } from "./links.mjs";

/** @import { GraphObject } from "../page-routes.js" */
/** @import { LogName, Page } from "./page.mjs" */

const mostLinks = 50;

/** @param {string} title @param {readonly HTMLElement[]} items */
const section = (title, items) =>
  items.length > 0 &&
  element(
    "section",
    {},
    element("h3", {}, title),
    element("ul", { class: "plain" }, ...items.slice(0, mostLinks)),
    items.length > mostLinks && paragraph("quiet", `and ${items.length - mostLinks} more`),
  );

const mostConversations = 5;

/** Links to the calls, deliveries, and conversations of an object. @param {Page} page @param {string} key @returns {readonly (readonly [label: string, href: string])[]} */
const happenedTo = ({ state }, key) => {
  const isAbout = (/** @type {{ readonly subjects: readonly string[] }} */ { subjects }) =>
    subjects.includes(key);
  /** @type {readonly (readonly [log: LogName, noun: string])[]} */
  const logs = [
    ["calls", "call"],
    ["deliveries", "delivery attempt"],
  ];
  return [
    ...logs.flatMap(([log, noun]) => {
      const count = state[log].entries.filter(isAbout).length;
      return count === 0
        ? []
        : [/** @type {const} */ ([counted(count, noun), linkToEntriesOf(log, key)])];
    }),
    ...[...state.conversations.values()]
      .filter(({ subject }) => subject === key)
      .slice(-mostConversations)
      .reverse()
      .map(({ id, customer }) => {
        const label = `conversation with ${withoutBidi(shortText(customer || id))}`;
        return /** @type {const} */ ([label, linkToConversation(id)]);
      }),
  ];
};

/**
 * The details of one object: what it refers to, what refers to it, and all its members. @param
 * {Page} page
 */
const objectDetails = (page) => {
  const panel = element("aside", { class: "details", "aria-label": "Chosen object", hidden: true });
  panel.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") location.hash = "#objects";
  });
  const json = element("pre", { tabindex: 0, "aria-label": "Object members" });
  const happened = element("ul", { class: "plain" });
  const history = element("section", {}, element("h3", {}, "History"), happened);
  /** @type {import("./elements.mjs").Rows} */
  const rows = new Map();
  /** The text beside the members. */
  let said = "";
  return {
    element: panel,
    /**
     * @param {GraphObject | undefined} object none: the panel is closed
     * @param {readonly string[]} users keys of those that refer to it
     */
    show: (object, users) => {
      panel.hidden = object === undefined;
      if (!object) return;
      const { members } = page.state;
      setText(json, members ? inertJson(members) : "…");
      const key = graphKey(object);
      const links = happenedTo(page, key);
      history.hidden = links.length === 0;
      keepRows(
        happened,
        rows,
        links.map(([label, href]) => [
          href,
          label,
          () => element("li", {}, element("a", { href }, label)),
        ]),
      );
      const near = [...new Set([...object.references.map(graphKey), ...users])];
      const names = near.map((each) => page.state.objectOf(each)?.name);
      const now = JSON.stringify([object, users, names]);
      // Unchanged content stays, and so does the focus in it.
      if (now === said) return;
      said = now;
      const item = (/** @type {string} */ other, path = "") =>
        page.state.objectOf(other)
          ? subjectItem(page, other, ...(path ? [element("span", { class: "quiet" }, path)] : []))
          : element(
              "li",
              { class: "missing" },
              foreignText(other.split("/").slice(1).join("/")),
              " (not there)",
            );
      fill(
        panel,
        element(
          "header",
          {},
          element("h2", { tabindex: -1 }, foreignText(titleOf(object))),
          element("a", { href: "#objects", class: "button", "aria-label": "Close" }, "Close"),
        ),
        paragraph("quiet", `${page.nounOf(object.collection)} · `, foreignText(object.id)),
        section(
          "Refers to",
          object.references.map((each) => item(graphKey(each), each.path)),
        ),
        section(
          `Used by ${counted(users.length, "object")}`,
          users.map((user) => item(user)),
        ),
        history,
        element(
          "section",
          {},
          element("h3", {}, "Members"),
          paragraph("quiet", "Secrets are hidden."),
          json,
        ),
      );
    },
  };
};

/** The setup objects as a graph, in setup order. @param {Page} page */
export const objectsView = (page) => {
  const { kinds } = page.tables;
  let chosen = "";
  /** What was drawn: if it is unchanged, nothing is redrawn. @type {unknown} */
  let drawn;
  const graph = new GraphView(kinds, (key) => {
    location.hash = key === chosen ? "#objects" : linkToObject(key);
  });
  const details = objectDetails(page);
  const filters = filterBar(
    {
      noun: "object",
      nothing: [paragraph("", "No objects yet."), connectionSteps(page)],
      search: ["Name or ID", "name or ID"],
      choices: {
        Kind: [
          ["", "all kinds"],
          ...kinds.map(({ collection, noun }) => /** @type {const} */ ([collection, `${noun}s`])),
        ],
      },
    },
    () => {
      drawn = undefined;
      update();
    },
  );

  const update = () => {
    const { objects, total } = page.state.graph;
    if (drawn !== objects) {
      const [text = "", kind] = filters.values();
      const wanted = objects.filter(
        ({ collection, name, id }) =>
          (kind || collection) === collection && isFound(text, name, id),
      );
      filters.count(wanted.length, total);
      graph.element.hidden = total === 0;
      graph.show(wanted);
      drawn = objects;
    }
    chosen = page.state.object;
    graph.mark(chosen);
    const object = objects.find((each) => graphKey(each) === chosen);
    const hadFocus = details.element.contains(document.activeElement);
    details.show(object, object ? graph.usersOf(chosen) : []);
    if (hadFocus && !object) graph.focus();
  };
  const beside = group("beside", graph.element, details.element);
  const view = group("entries", filters.element, filters.empty, beside);
  return { element: view, update };
};
