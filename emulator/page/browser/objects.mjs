import { objectKey } from "./emulator.mjs";
import { LogLinks } from "./logs.mjs";
import * as parts from "./parts.mjs";
import { counted, countText, shortText } from "./texts.mjs";
import { useEffect, useMemo } from "./vendor/hooks.mjs";

/** @import { GraphObject } from "../page-routes.js" */
/** @import { Known } from "./emulator.mjs" */

const { Code, Details, ForeignText, html, KeyLists, linkTo, SearchBar, Subject } = parts;

/** @typedef {{ readonly collection: string, readonly noun: string, readonly doc: string }} Kind */
/** The objects of one kind, from top to bottom. @typedef {{ readonly kind: Kind, readonly objects: readonly GraphObject[] }} Column */
/** A line from an object to one that it refers to. @typedef {{ readonly from: string, readonly to: string, readonly path: string }} Line */

/** Heights in pixels: of a card, and from one card to the next. */
const cardHeight = 46;
const pitch = 60;
/** Between two columns, as a part of a column's width. */
const gapShare = 0.24;
/** More lines at once show nothing. */
const mostLines = 1_500;

/** The keys of the objects that an object refers to, each once. @param {GraphObject} object */
const usedKeys = (object) => [...new Set(object.references.map(objectKey))];

/** For each object's key, the keys of the objects that refer to it. @param {readonly GraphObject[]} objects */
const usersByKey = (objects) => {
  /** @type {Map<string, string[]>} */
  const users = new Map();
  for (const object of objects)
    for (const key of usedKeys(object))
      users.set(key, [...(users.get(key) ?? []), objectKey(object)]);
  return users;
};

/**
 * Puts the objects in one column for each kind, in setup order, each beside those that it refers to,
 * so that few lines cross. All lines run one way: from the right side of what is used to the left
 * side of what uses it, and past the columns between them below a row. Widths are parts of 100.
 *
 * @param {readonly Kind[]} kinds in setup order
 * @param {readonly GraphObject[]} objects
 * @returns {{ readonly columns: readonly Column[], readonly height: number, readonly gap: number, readonly lines: readonly Line[] }}
 */
export const drawGraph = (kinds, objects) => {
  const byKind = Map.groupBy(objects, ({ collection }) => collection);
  const width = 100 / (kinds.length + (kinds.length - 1) * gapShare);
  const gap = width * gapShare;
  /** @type {Map<string, { readonly x: number, readonly y: number }>} */
  const places = new Map();
  const columns = kinds.map((kind, column) => {
    const wanted = (byKind.get(kind.collection) ?? []).map((object) => {
      const heights = usedKeys(object).flatMap((key) => places.get(key)?.y ?? []);
      return { object, y: heights.reduce((sum, y) => sum + y, 0) / heights.length || 0 };
    });
    const sorted = wanted.toSorted((a, b) => a.y - b.y).map(({ object }) => object);
    for (const [row, object] of sorted.entries())
      places.set(objectKey(object), {
        x: column * (width + gap),
        y: row * pitch + cardHeight / 2,
      });
    return { kind, objects: sorted };
  });
  const lines = objects.flatMap((object) =>
    usedKeys(object).flatMap((to) => {
      const from = objectKey(object);
      const [user, used] = [places.get(from), places.get(to)];
      if (!user || !used) return [];
      const [start, last] = [used.x + width, user.x - gap];
      const bend = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ end) =>
        `C${x + gap / 2} ${y} ${x + gap / 2} ${end} ${x + gap} ${end}`;
      const below = last - start < gap ? user.y : used.y + pitch / 2;
      const past = below === user.y ? "" : `H${last}${bend(last, below, user.y)}`;
      const path = `M${start} ${used.y}${bend(start, used.y, below)}${past}`;
      return [{ from, to, path }];
    }),
  );
  const rows = Math.max(1, ...columns.map((column) => column.objects.length));
  return { columns, height: rows * pitch, gap, lines };
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
  const graph = useMemo(() => drawGraph(kinds, objects), [kinds, objects]);
  const object = known.objects.get(chosen);
  const near = new Set(object && [chosen, ...usedKeys(object), ...(users.get(chosen) ?? [])]);
  const isStrong = (/** @type {Line} */ { from, to }) => from === chosen || to === chosen;
  const [strong, others] = [true, false].map((is) => graph.lines.filter((l) => isStrong(l) === is));
  const drawLine =
    (/** @type {string} */ look) =>
    (/** @type {Line} */ { from, to, path }) =>
      html`<path key=${`${from} ${to}`} class=${look} d=${path} />`;
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
  const columns = graph.columns.map(
    ({ kind, objects: list }, place) =>
      html`<section key=${kind.collection} style=${{ "--place": String(place) }}>
      <h2 title=${kind.doc}>${kind.noun}s <span class="badge">${countText(list.length)}</span></h2>
      <ul class="plain">${list.map(drawCard)}</ul>
    </section>`,
  );
  const size = { viewBox: `0 0 100 ${graph.height}`, style: { height: `${graph.height}px` } };
  return html`<div class="graph" style=${{ "--gap": `${graph.gap}%`, "--card": `${cardHeight}px` }}>
    <svg class="lines" aria-hidden="true" preserveAspectRatio="none" ...${size}>
      ${graph.lines.length > mostLines ? null : others?.map(drawLine(object ? "faint" : ""))}
      ${strong?.map(drawLine("strong"))}
    </svg>
    ${columns}
  </div>`;
};

/** One object: what it refers to, what refers to it, and all its members. @param {{ readonly page: parts.Page, readonly object: GraphObject, readonly users: readonly string[] }} props */
const ObjectDetails = ({ page, object, users }) => {
  const { known } = page;
  const key = objectKey(object);
  const members = known.question.object === key ? known.object : null;
  const noun = known.tables.kinds.find(({ collection }) => collection === object.collection)?.noun;
  const used = object.references.map(
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
  const { found, ...field } = parts.useSearch("objects", objects, ({ name, id, collection }) => [
    ...[name, id, collection],
  ]);
  const users = useMemo(() => usersByKey(objects), [objects]);
  const graph = useMemo(
    () => html`<${Graph} known=${known} objects=${found} users=${users} chosen=${chosen} />`,
    [found, users, chosen],
  );
  useEffect(() => {
    document.querySelector(".card [aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [object]);
  const search = { label: "Name, ID, or kind", found: found.length, total, noun: "object" };
  const hint = "No objects yet. Apply a program with the variables that the emulator printed.";
  return html`<div class="view">
    <${SearchBar} ...${search} ...${field} />
    <div class="beside">
      <${KeyLists} class="scroller canvas">
        ${total === 0 && html`<p class="empty">${hint}</p>`}
        ${graph}
      <//>
      ${object && html`<${ObjectDetails} page=${page} object=${object} users=${users.get(chosen) ?? []} />`}
    </div>
  </div>`;
};
