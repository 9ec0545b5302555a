import { element, fill, foreignText, inertJson, setText } from "../elements.mjs";
import { graphKey } from "../graph-layout.mjs";
import { readObject } from "../server-calls.mjs";
import { counted } from "../times.mjs";
import { titleOf } from "./graph-view.mjs";

/** @import { GraphObject } from "../../account-graph.js" */
/** @import { Page } from "../page.mjs" */

const mostLinks = 50;

/** Where an object is shown. @param {string} key */
export const linkTo = (key) => `#objects/${key.split("/").map(encodeURIComponent).join("/")}`;

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
export const objectDetails = (page) => {
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
