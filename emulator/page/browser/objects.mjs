import { objectKey } from "./emulator.mjs";
import { cardHeight, columnWidth, drawGraph, usedKeys } from "./graph.mjs";
import { LogLinks } from "./logs.mjs";
import * as parts from "./parts.mjs";
import { counted, countText, shortText } from "./texts.mjs";
import { useEffect, useMemo } from "./vendor/hooks.mjs";

/** @import { GraphObject } from "../page-routes.js" */
/** @import { Known } from "./emulator.mjs" */
/** @import { Column, Line } from "./graph.mjs" */

const { Code, Details, ForeignText, html, KeyLists, linkTo, SearchBar, Subject } = parts;

/** More lines at once show nothing. */
const mostLines = 1_500;

/** For each object's key, the keys of the objects that refer to it. @param {readonly GraphObject[]} objects */
const usersByKey = (objects) => {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const object of objects)
    for (const key of usedKeys(object))
      users.set(key, [...(users.get(key) ?? []), objectKey(object)]);
  return users;
};

/** What a card says of its object: whether it is active, what it uses, and how many use it. @param {Known["objects"]} objects @param {GraphObject} object @param {number} users */
const describe = (objects, object, users) => {
  const names = usedKeys(object).map((key) => objects.get(key)?.name ?? "");
  const uses = names.filter(Boolean).map(shortText).join(", ");
  const said = [
    !object.isActive && "not active",
    uses && `uses ${uses}`,
    users > 0 && `used by ${users}`,
  ];
  return said.filter(Boolean).join(" · ") || "on its own";
};

/** The setup objects in a column for each kind. @param {{ readonly known: Known, readonly objects: readonly GraphObject[], readonly users: ReadonlyMap<string, readonly string[]>, readonly chosen: string }} props */
const Graph = ({ known, objects, users, chosen }) => {
  const { kinds } = known.tables;
  const { columns, height, lines } = useMemo(() => drawGraph(kinds, objects), [kinds, objects]);
  const object = known.objects.get(chosen);
  const near = new Set(object && [chosen, ...usedKeys(object), ...(users.get(chosen) ?? [])]);
  const isStrong = (/** @type {Line} */ { from, to }) => from === chosen || to === chosen;
  const others = lines.length > mostLines ? [] : lines.filter((line) => !isStrong(line));
  const drawLine = (/** @type {Line} */ line) => {
    const look = isStrong(line) ? "strong" : object && "faint";
    return html`<path key=${`${line.from} ${line.to}`} class=${look} d=${line.path} />`;
  };
  const drawCard = (/** @type {GraphObject} */ each) => {
    const [key, name] = [objectKey(each), shortText(each.name || each.id)];
    const about = describe(known.objects, each, users.get(key)?.length ?? 0);
    const current = key === chosen ? "true" : undefined;
    const dim = object && !near.has(key) ? "true" : undefined;
    const href = linkTo("objects", each.collection, each.id);
    return html`<li key=${key} class="card">
      <a href=${href} aria-current=${current} data-dim=${dim} title=${`${name}\n${about}`}>
        <strong><bdi>${name}</bdi></strong>
        <span class="quiet"><bdi>${about}</bdi></span>
      </a>
    </li>`;
  };
  const drawColumn = (
    /** @type {Column} */ { kind, top, objects: list },
    /** @type {number} */ place,
  ) =>
    html`<section key=${kind.collection} style=${{ "--top": `${top}px`, "--place": String(place) }}>
      <h2 title=${kind.doc}>${kind.noun}s <span class="badge">${countText(list.length)}</span></h2>
      <ul class="plain">${list.map(drawCard)}</ul>
    </section>`;
  const gap = (100 - kinds.length * columnWidth(kinds.length)) / (kinds.length - 1);
  const size = { viewBox: `0 0 100 ${height}`, style: { height: `${height}px` } };
  return html`<div class="graph" style=${{ "--gap": `${gap}%`, "--card": `${cardHeight}px` }}>
    <svg class="lines" aria-hidden="true" preserveAspectRatio="none" ...${size}>
      ${[...others, ...lines.filter(isStrong)].map(drawLine)}
    </svg>
    ${columns.map(drawColumn)}
  </div>`;
};

/** One object: what it refers to, what refers to it, and all its members. @param {{ readonly page: parts.Page, readonly object: GraphObject, readonly users: readonly string[] }} props */
const ObjectDetails = ({ page, object, users }) => {
  const { known } = page;
  const [key, { references }] = [objectKey(object), object];
  const members = known.question.object === key ? known.object : null;
  const noun = known.tables.kinds.find(({ collection }) => collection === object.collection)?.noun;
  const used = references.map(
    (each) => html`<${Subject} page=${page} subject=${objectKey(each)}> · ${each.path}<//>`,
  );
  const using = users.map((each) => html`<${Subject} key=${each} page=${page} subject=${each} />`);
  return html`<${Details} key=${key} label="Chosen object" title=${object.name || object.id} close="#objects">
    <p class="quiet">${noun} · <${ForeignText} text=${object.id} /><${LogLinks} subject=${key} /></p>
    <section><h3>Refers to ${counted(used.length, "object")}</h3><ul class="plain">${used}</ul></section>
    <section><h3>Used by ${counted(using.length, "object")}</h3><ul class="plain">${using}</ul></section>
    <section><h3>Members, without secrets</h3><${Code} label="Members" value=${members ?? "…"} /></section>
  <//>`;
};

/** The setup objects as a graph, in setup order. @param {{ readonly page: parts.Page }} props */
export const ObjectsView = ({ page }) => {
  const { known, rest } = page;
  const { objects, total } = known.account;
  const chosen = rest.join("/");
  const object = known.objects.get(chosen);
  const words = (/** @type {GraphObject} */ { name, id, collection }) => [name, id, collection];
  const { found, ...field } = parts.useSearch("objects", objects, words);
  const users = useMemo(() => usersByKey(objects), [objects]);
  const graph = useMemo(
    () => html`<${Graph} known=${known} objects=${found} users=${users} chosen=${chosen} />`,
    [found, users, chosen],
  );
  useEffect(() => {
    document.querySelector(".card [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [object]);
  const search = { label: "Name, ID, or kind", found: found.length, total, noun: "object" };
  const details =
    object &&
    html`<${ObjectDetails} page=${page} object=${object} users=${users.get(chosen) ?? []} />`;
  const hint = "No objects yet. Apply a program with the variables that the emulator printed.";
  return html`<div class="view">
    <${SearchBar} ...${search} ...${field} />
    <div class="beside">
      <${KeyLists} class="scroller canvas">
        ${total === 0 && html`<p class="empty">${hint}</p>`}
        ${graph}
      <//>
      ${details}
    </div>
  </div>`;
};
