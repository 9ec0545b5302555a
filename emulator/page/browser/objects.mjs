import {
  choice,
  counted,
  element,
  fill,
  foreignText,
  inertJson,
  labelled,
  setText,
  shareText,
} from "./elements.mjs";
import { GraphView, graphKey, titleOf } from "./graph.mjs";
import { readObject } from "./page.mjs";

/** @import { AccountGraph, GraphObject } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */

const mostLinks = 50;

/** Where an object is shown. @param {string} key */
const linkTo = (key) => `#objects/${key.split("/").map(encodeURIComponent).join("/")}`;

/** @param {Page} page @param {string} key @param {string} path @param {ReadonlyMap<string, GraphObject>} objects */
const referenceItem = (page, key, path, objects) => {
  const object = objects.get(key);
  const noun = page.nounOf(key.split("/")[0] ?? "");
  return element(
    "li",
    {},
    object
      ? element("a", { href: linkTo(key) }, foreignText(titleOf(object)))
      : element("span", { class: "missing" }, foreignText(key.split("/")[1] ?? ""), " (not there)"),
    element("span", { class: "quiet" }, ` ${noun}${path && ` · ${path}`}`),
  );
};

/** @param {string} title @param {readonly HTMLElement[]} items */
const section = (title, items) =>
  items.length > 0 &&
  element(
    "section",
    {},
    element("h3", {}, title),
    element("ul", { class: "plain" }, ...items.slice(0, mostLinks)),
    items.length > mostLinks &&
      element("p", { class: "quiet" }, `and ${items.length - mostLinks} more`),
  );

/** What is known of one object: what it refers to, what refers to it, and all its members. @param {Page} page */
const objectDetails = (page) => {
  const close = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") page.go("#objects");
  };
  const panel = element("aside", { class: "details", "aria-label": "Chosen object", hidden: true });
  panel.addEventListener("keydown", close);
  const json = element("pre", { tabindex: 0, "aria-label": "Members of the object" });
  let shown = "";
  /** All that is said beside the members. */
  let said = "";

  const load = async (/** @type {GraphObject} */ { collection, id }) => {
    const text = await readObject(collection, id).then(inertJson, (error) =>
      String(error instanceof Error ? error.message : error),
    );
    if (shown === graphKey({ collection, id })) setText(json, text);
  };

  return {
    element: panel,
    /**
     * @param {GraphObject | undefined} object none: the panel is closed
     * @param {readonly string[]} users keys of those that refer to it
     */
    show: (object, users) => {
      panel.hidden = object === undefined;
      if (!object) {
        shown = "";
        return;
      }
      const key = graphKey(object);
      if (shown !== key) setText(json, "…");
      shown = key;
      void load(object);
      const objects = new Map(page.state.graph.objects.map((each) => [graphKey(each), each]));
      const near = [...object.references.map(graphKey), ...users].map(
        (each) => objects.get(each)?.name,
      );
      const now = JSON.stringify([object, users, near]);
      // What did not change stays, with whatever has the focus in it.
      if (now === said) return;
      said = now;
      fill(
        panel,
        element(
          "header",
          {},
          element("h2", { tabindex: -1 }, foreignText(titleOf(object))),
          element("a", { href: "#objects", class: "button", "aria-label": "Close" }, "Close"),
        ),
        element(
          "p",
          { class: "quiet" },
          `${page.nounOf(object.collection)} · `,
          foreignText(object.id),
        ),
        section(
          "Refers to",
          object.references.map((each) => referenceItem(page, graphKey(each), each.path, objects)),
        ),
        section(
          `Used by ${counted(users.length, "object")}`,
          users.map((user) => referenceItem(page, user, "", objects)),
        ),
        element(
          "section",
          {},
          element("h3", {}, "Members"),
          element("p", { class: "quiet" }, "Secrets are hidden."),
          json,
        ),
      );
    },
  };
};

/**
 * The objects that fit.
 *
 * @param {readonly GraphObject[]} objects
 * @param {{ readonly text: string, readonly collection: string }} filter
 */
const wantedObjects = (objects, { text, collection }) => {
  const words = text.toLowerCase().trim();
  if (words === "" && collection === "") return objects;
  return objects.filter(
    (object) =>
      (collection === "" || object.collection === collection) &&
      `${object.name} ${object.id}`.toLowerCase().includes(words),
  );
};

/** The set-up objects as a graph, in set-up order. @param {Page} page */
export const objectsView = (page) => {
  const { kinds } = page.tables;
  const text = element("input", { type: "search", placeholder: "name or id", autocomplete: "off" });
  const kind = choice([
    ["", "all kinds"],
    ...kinds.map(({ collection, noun }) => /** @type {const} */ ([collection, `${noun}s`])),
  ]);
  const count = element("p", { class: "count" });
  const empty = element("p", { class: "empty" });
  const graph = new GraphView(kinds, (key) => page.go(key === chosen ? "#objects" : linkTo(key)));
  const details = objectDetails(page);
  /** @type {AccountGraph | undefined} */
  let shown;
  let chosen = "";

  const update = () => {
    const { objects, total } = page.state.graph;
    const next = page.rest.join("/");
    if (shown === page.state.graph && chosen === next) return;
    const wanted = wantedObjects(objects, { text: text.value, collection: kind.value });
    setText(count, shareText(wanted.length, total, "object"));
    setText(
      empty,
      total === 0
        ? "No objects yet. Apply a program to this emulator, and its account grows here."
        : wanted.length === 0
          ? "None fits the filters."
          : "",
    );
    graph.element.hidden = total === 0;
    if (shown !== page.state.graph) graph.show(wanted);
    shown = page.state.graph;
    chosen = next;
    graph.mark(chosen);
    const object = objects.find((each) => graphKey(each) === chosen);
    const hadFocus = details.element.contains(document.activeElement);
    details.show(object, object ? graph.usersOf(chosen) : []);
    if (hadFocus && !object) graph.focus();
  };
  for (const control of [text, kind])
    control.addEventListener("input", () => {
      shown = undefined;
      update();
    });
  const filters = element(
    "form",
    { class: "filters", submit: (event) => event.preventDefault() },
    labelled("Name or id", text),
    labelled("Kind", kind),
    count,
  );
  const view = element(
    "div",
    { class: "entries" },
    filters,
    empty,
    element("div", { class: "beside" }, graph.element, details.element),
  );
  return { element: view, update };
};
