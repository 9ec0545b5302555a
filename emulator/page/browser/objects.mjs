import { objectKey } from "./emulator.mjs";
import * as parts from "./parts.mjs";
import { counted, countText } from "./texts.mjs";
import { useMemo } from "./vendor/hooks.mjs";

/** @import { ShownObject } from "../page-routes.js" */
/** @import { Known } from "./emulator.mjs" */

const { Code, Details, ForeignText, html, linkTo, SearchBar, Table } = parts;

/** An object with the names of those that it refers to, and the keys of those that refer to it. @typedef {{ readonly object: ShownObject, readonly noun: string, readonly uses: string, readonly users: readonly string[] }} Row */

/** The keys of the objects that an object refers to, each once. @param {ShownObject} object */
const usedKeys = (object) => [...new Set(object.references.map(objectKey))];

/** The objects in setup order. @param {Known} known @returns {readonly Row[]} */
const makeRows = ({ account, objects, tables }) => {
  const nouns = new Map(tables.kinds.map(({ collection, noun }) => [collection, noun]));
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const object of account.objects)
    for (const key of usedKeys(object))
      users.set(key, [...(users.get(key) ?? []), objectKey(object)]);
  return account.objects.map((object) => ({
    object,
    noun: nouns.get(object.collection) ?? object.collection,
    uses: usedKeys(object)
      .map((key) => objects.get(key)?.name ?? key)
      .join(", "),
    users: users.get(objectKey(object)) ?? [],
  }));
};

/** @type {readonly parts.Column<Row>[]} */
const columns = [
  ["Kind", "kind", ({ noun }) => noun],
  ["Name", "wide", ({ object }) => object.name || object.id],
  ["Uses", "uses spare", ({ uses }) => uses || "–"],
  ["Used by", "number", ({ users }) => countText(users.length)],
  [
    "State",
    "phase spare",
    ({ object }) => (object.isActive ? "active" : "not active"),
    ({ object }) => (object.isActive ? undefined : "wait"),
  ],
];

/** Another object: its name, linked if it is there. @param {{ readonly known: Known, readonly subject: string, readonly note?: string }} props */
const Subject = ({ known, subject, note = "" }) => {
  const object = known.objects.get(subject);
  const shown = html`<${ForeignText} text=${object?.name || subject} />`;
  const href = linkTo("objects", ...subject.split("/"));
  return html`<li>${object ? html`<a href=${href}>${shown}</a>` : shown} <span class="quiet">${note}</span></li>`;
};

/** One object: what it refers to, what refers to it, and all its members. @param {{ readonly page: parts.Page, readonly row: Row }} props */
const ObjectDetails = ({ page, row: { object, noun, users } }) => {
  const { known } = page;
  const key = objectKey(object);
  const members = known.question.object === key ? known.object : null;
  const used = object.references.map(
    (each) => html`<${Subject} known=${known} subject=${objectKey(each)} note=${each.path} />`,
  );
  const using = users.map(
    (each) => html`<${Subject} key=${each} known=${known} subject=${each} />`,
  );
  return html`<${Details} key=${key} label="Chosen object" title=${object.name || object.id} close="#objects">
    <p class="quiet">${noun} · <${ForeignText} text=${object.id} /></p>
    <section><h3>Refers to ${counted(used.length, "object")}</h3><ul class="plain">${used}</ul></section>
    <section><h3>Used by ${counted(using.length, "object")}</h3><ul class="plain">${using}</ul></section>
    <section><h3>Members, without secrets</h3><${Code} label="Members" value=${members ?? "…"} /></section>
  <//>`;
};

/** The setup objects, and the chosen one. @param {{ readonly page: parts.Page }} props */
export const ObjectsView = ({ page }) => {
  const { known, rest } = page;
  const { account } = known;
  const rows = useMemo(() => makeRows(known), [account]);
  const chosen = rest.join("/");
  const row = rows.find(({ object }) => objectKey(object) === chosen);
  const { found, ...field } = parts.useSearch(rows, ({ object, noun }) => [
    ...[object.name, object.id, noun],
  ]);
  const search = { label: "Name, ID, or kind", found: found.length, total: account.total };
  const href = (/** @type {Row} */ { object }) => linkTo("objects", object.collection, object.id);
  const hint = "No objects yet. Apply a program with the variables that the emulator printed.";
  return html`<div class="view">
    <${SearchBar} ...${search} ...${field} noun="object" />
    <div class="beside">
      <${Table} label="objects" items=${found} columns=${columns} href=${href} empty=${account.total === 0 && hint} />
      ${row && html`<${ObjectDetails} page=${page} row=${row} />`}
    </div>
  </div>`;
};
