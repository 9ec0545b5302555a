import { choice, element, labelled, setText } from "../elements.mjs";
import { graphKey } from "../graph-layout.mjs";
import { shareText } from "../times.mjs";
import { GraphView } from "./graph-view.mjs";
import { linkTo, objectDetails } from "./object-details.mjs";

/** @import { AccountGraph, GraphObject } from "../../account-graph.js" */
/** @import { Page } from "../page.mjs" */

/**
 * The objects that fit.
 *
 * @param {readonly GraphObject[]} objects
 * @param {{ readonly text: string, readonly collection: string }} filter
 */
export const wantedObjects = (objects, { text, collection }) => {
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
