import { callsView, deliveriesView, ratesView } from "./calls.mjs";
import { connectView } from "./connect.mjs";
import { conversationsView } from "./conversations.mjs";
import {
  countText,
  dayTime,
  element,
  fill,
  foreignText,
  formOf,
  group,
  labelled,
  setAttributes,
  setText,
  statusLine,
} from "./elements.mjs";
import { reasonFor, undelivered } from "./inspector.mjs";
import { linkToEntry } from "./links.mjs";
import { objectsView } from "./objects.mjs";
import { Page, useControlSecret } from "./page.mjs";

/** @import { CallError, GrowingList, LogName, PageState } from "./page.mjs" */

/** @typedef {{ readonly element: HTMLElement, readonly update: () => void }} View */

/** The views: what opens one, and how much there is in it. @type {Readonly<Record<string, readonly [title: string, open: (page: Page) => View, count?: (state: PageState) => number]>>} */
const views = {
  objects: ["Objects", objectsView, ({ graph }) => graph.total],
  conversations: [
    "Conversations",
    conversationsView,
    ({ latest }) => latest?.conversations.total ?? 0,
  ],
  calls: ["Calls", callsView, ({ calls }) => calls.entries.length],
  deliveries: ["Deliveries", deliveriesView, ({ deliveries }) => deliveries.entries.length],
  rates: ["Rates", ratesView],
  connect: ["Connect", connectView],
};

/** @param {string} id */
const place = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
};

/** @param {string} text */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** What the address asks for: a view, and what to show in it. @param {string} hash */
const routeOf = (hash) => {
  const [name = "", ...rest] = hash.replace(/^#/, "").split("/").map(decoded);
  return Object.hasOwn(views, name) ? { name, rest } : { name: "objects", rest: [] };
};

const [main, facts, notice] = [place("main"), place("facts"), place("notice")];
const page = new Page(
  () => {
    fill(notice);
    show();
  },
  (/** @type {CallError} */ { status, message }) => {
    if (status === 401) askForSecret();
    else setText(notice, `${message} Trying again …`);
  },
);

/** Links to the views, each with how much there is. */
const links = Object.entries(views).map(([name, [title, , count]]) => {
  const badge = element("span", { class: "badge", hidden: !count }, "0");
  const link = element("a", { href: `#${name}` }, title, badge);
  return { name, count, badge, link };
});
fill(place("views"), ...links.map(({ link }) => element("li", {}, link)));

/**
 * Leads from every view to the last entry of a log that went wrong, and says how many did.
 *
 * @template T
 * @param {LogName} log
 * @param {string} outcome
 * @param {() => GrowingList<T>} listed
 * @param {(entries: readonly T[]) => readonly T[]} failed the entries that went wrong, the newest first
 * @param {(entry: T) => string} said
 */
const signOf = (log, outcome, listed, failed, said) => {
  const link = element("a", { class: "refused", hidden: true });
  /** @type {unknown} */
  let known;
  const update = () => {
    const { first, entries } = listed();
    if (known === entries) return;
    known = entries;
    const all = failed(entries);
    const [entry] = all;
    setAttributes(link, { hidden: !entry });
    if (!entry) return;
    setAttributes(link, { href: linkToEntry(log, first + entries.lastIndexOf(entry)) });
    const last = all.length > 1 ? `Last of ${countText(all.length)}` : "Last";
    fill(link, `${last} ${outcome}: `, foreignText(said(entry)));
  };
  return { link, update };
};

const signs = [
  signOf(
    "calls",
    "refused",
    () => page.state.calls,
    // One beyond its rate is only late.
    (entries) => entries.filter(({ status }) => status >= 400 && status !== 429).reverse(),
    ({ method, path, status }) => `${status} ${method} ${path}`,
  ),
  signOf(
    "deliveries",
    "undelivered",
    () => page.state.deliveries,
    undelivered,
    (entry) => `${entry.type}. ${reasonFor(page, entry)?.rule}`,
  ),
];

const notReset = statusLine();
const yes = element("button", { type: "button", class: "main" }, "Remove everything");
yes.addEventListener("click", async () => {
  if (await page.change(notReset, "POST", "/reset")) dialog.close();
});
/** The question before everything is deleted. */
const dialog = element(
  "dialog",
  { "aria-labelledby": "reset-title" },
  element("h2", { id: "reset-title" }, "Reset the emulator?"),
  element(
    "p",
    {},
    "Resetting removes all objects, conversations, assets, and faults, and clears the log. Clients and switches are kept.",
  ),
  notReset,
  group("send", element("button", { type: "button", click: () => dialog.close() }, "Cancel"), yes),
);

const steps = { "+1 s": 1_000, "+1 min": 60_000, "+1 h": 3_600_000 };
const said = statusLine();
const clock = element(
  "span",
  { class: "clock", role: "group", "aria-label": "Advance the clock", hidden: true },
  ...Object.entries(steps).map(([label, advanceMs]) => {
    const click = () => void page.change(said, "POST", "/clock", { advanceMs });
    return element("button", { type: "button", click }, label);
  }),
);
const reset = element("button", { type: "button", click: () => dialog.showModal() }, "Reset…");
fill(place("actions"), said, ...signs.map(({ link }) => link), clock, reset, dialog);

let isSecretGiven = false;
const secret = element("input", { type: "password", autocomplete: "off", required: true });
const wrongSecret = statusLine();
const secretForm = formOf(
  {},
  () => {
    isSecretGiven = true;
    useControlSecret(secret.value);
    page.lookNow();
  },
  labelled("This emulator requires its control secret, which it printed when it started:", secret),
  element("button", { type: "submit", class: "main" }, "Go on"),
  wrongSecret,
);

/** The emulator requires a secret: asks for it, or reports that the given one is wrong. */
const askForSecret = () => {
  if (!notice.contains(secretForm)) fill(notice, secretForm);
  if (isSecretGiven) setText(wrongSecret, "That is not this emulator's secret.");
  isSecretGiven = false;
  if (!secretForm.contains(document.activeElement)) secret.focus();
};

/** @type {Map<string, View>} */
const opened = new Map();

/** Finds out what the address requests, before it is requested from the emulator. */
const follow = () => {
  const { name, rest } = routeOf(location.hash);
  page.rest = rest;
  const [id = ""] = name === "conversations" && rest[0] !== "new" ? rest : [];
  const object = name === "objects" ? rest.join("/") : "";
  const call = name === "calls" && /^\d+$/.test(rest[0] ?? "") ? (rest[0] ?? "") : "";
  page.state.show({ conversation: id, object, call });
  if (page.state.latest) show();
  page.lookNow();
};

/** Shows what is known of the emulator, in the view that the address names. */
const show = () => {
  const { name } = routeOf(location.hash);
  const { state } = page;
  const [title, open] = views[name] ?? ["", objectsView];
  const view = opened.get(name) ?? open(page);
  opened.set(name, view);
  document.title = `${title} – Conversation emulator`;
  if (main.firstChild !== view.element) fill(main, view.element);
  for (const { name: each, link, badge, count } of links) {
    setAttributes(link, { "aria-current": each === name ? "page" : undefined });
    setText(badge, countText(count?.(state) ?? 0));
  }
  for (const { update } of signs) update();
  const { latest } = state;
  const plan = latest?.plan === "none" ? "no rate limits" : `plan ${latest?.plan}`;
  clock.hidden = latest?.clock !== "manual";
  setText(
    facts,
    `${plan} · ${clock.hidden ? "" : "clock moved by hand: "}${dayTime(latest?.now ?? 0)}`,
  );
  view.update();
};

place("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", follow);
follow();
