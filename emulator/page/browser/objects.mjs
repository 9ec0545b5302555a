import {
  counted,
  element,
  fill,
  filterBar,
  foreignText,
  group,
  inertJson,
  isFound,
  paragraph,
  setText,
} from "./elements.mjs";
import { GraphView, graphKey, titleOf } from "./graph.mjs";

/** @import { GraphObject } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */

const mostLinks = 50;

/** Where an object is shown. @param {string} key */
const linkTo = (key) => `#objects/${key.split("/").map(encodeURIComponent).join("/")}`;

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

/**
 * The details of one object: what it refers to, what refers to it, and all its members. @param
 * {Page} page
 */
const objectDetails = (page) => {
  const panel = element("aside", { class: "details", "aria-label": "Chosen object", hidden: true });
  panel.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") location.hash = "#objects";
  });
  const json = element("pre", { tabindex: 0, "aria-label": "Members of the object" });
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
      const { members, graph } = page.state;
      setText(json, members ? inertJson(members) : "…");
      const near = new Set([...object.references.map(graphKey), ...users]);
      const objects = new Map(
        graph.objects.map((each) => /** @type {const} */ ([graphKey(each), each])),
      );
      const now = JSON.stringify([object, users, [...near].map((key) => objects.get(key)?.name)]);
      // Unchanged content stays, and so does the focus in it.
      if (now === said) return;
      said = now;
      const item = (/** @type {string} */ key, path = "") => {
        const [collection = "", id = ""] = key.split("/");
        const other = objects.get(key);
        const name = other
          ? element("a", { href: linkTo(key) }, foreignText(titleOf(other)))
          : element("span", { class: "missing" }, foreignText(id), " (not there)");
        const noun = ` ${page.nounOf(collection)}${path && ` · ${path}`}`;
        return element("li", {}, name, element("span", { class: "quiet" }, noun));
      };
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

/** The set-up objects as a graph, in set-up order. @param {Page} page */
export const objectsView = (page) => {
  const { kinds } = page.tables;
  let chosen = "";
  /** What was drawn: if it is unchanged, nothing is redrawn. @type {unknown} */
  let drawn;
  const graph = new GraphView(kinds, (key) => {
    location.hash = key === chosen ? "#objects" : linkTo(key);
  });
  const details = objectDetails(page);
  const filters = filterBar(
    {
      noun: "object",
      nothing: "No objects yet. Apply a program to this emulator, and its account grows here.",
      search: ["Name or id", "name or id"],
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
