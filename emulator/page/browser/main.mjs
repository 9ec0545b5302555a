import { fill, setText } from "./elements.mjs";
import { Page } from "./page.mjs";
import { factsText, headerActions, secretQuestion, viewLinks } from "./page-header.mjs";
import { CallError, readTables } from "./server-calls.mjs";
import { callsView } from "./views/calls-view.mjs";
import { conversationsView } from "./views/conversations-view.mjs";
import { deliveriesView } from "./views/deliveries-view.mjs";
import { faultsView } from "./views/faults-view.mjs";
import { objectsView } from "./views/objects-view.mjs";
import { ratesView } from "./views/rates-view.mjs";
import { switchesView } from "./views/switches-view.mjs";

/** @typedef {{ readonly element: HTMLElement, readonly update: () => void }} View */
/** @typedef {import("./page-header.mjs").ViewLink & { readonly open: (page: Page) => View }} ViewChoice */

/** @type {readonly ViewChoice[]} */
const choices = [
  { name: "objects", title: "Objects", count: ({ state }) => state.graph.total, open: objectsView },
  {
    name: "conversations",
    title: "Conversations",
    count: ({ state }) => state.latest?.conversations.total ?? 0,
    open: conversationsView,
  },
  {
    name: "calls",
    title: "Calls",
    count: ({ state }) => state.calls.entries.length,
    open: callsView,
  },
  {
    name: "deliveries",
    title: "Deliveries",
    count: ({ state }) => state.deliveries.entries.length,
    open: deliveriesView,
  },
  { name: "rates", title: "Rates", open: ratesView },
  {
    name: "faults",
    title: "Faults",
    count: ({ state }) => state.latest?.faults.length ?? 0,
    open: faultsView,
  },
  { name: "switches", title: "Switches", open: switchesView },
];

/** @param {string} id */
const place = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no ${id}.`);
  return found;
};

/** What the address asks for: a view, and what to show in it. @param {string} hash */
export const routeOf = (hash) => {
  const [name = "", ...rest] = hash.replace(/^#/, "").split("/").map(decoded);
  const known = choices.some((each) => each.name === name);
  return known ? { name, rest } : { name: "objects", rest: [] };
};

/** @param {string} text */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** @param {Page} page */
const start = (page) => {
  const [main, facts, notice] = [place("main"), place("facts"), place("notice")];
  const links = viewLinks(place("views"), choices);
  const actions = headerActions(place("actions"), page);
  const question = secretQuestion(() => page.lookNow());
  /** @type {Map<string, View>} */
  const opened = new Map();
  /** @type {View | undefined} */
  let current;

  const changed = () => {
    fill(notice);
    setText(facts, factsText(page));
    links.update(page);
    actions.update();
    current?.update();
  };

  const open = () => {
    const { name, rest } = routeOf(location.hash);
    const choice = choices.find((each) => each.name === name);
    if (!choice) return;
    page.rest = rest;
    page.state.show(name === "conversations" && rest[0] !== "new" ? (rest[0] ?? "") : "");
    const view = opened.get(name) ?? choice.open(page);
    opened.set(name, view);
    document.title = `${choice.title} – Conversation emulator`;
    links.mark(name);
    if (current !== view) fill(main, view.element);
    current = view;
    if (page.state.latest) view.update();
    page.lookNow();
  };

  const failed = (/** @type {CallError} */ error) => {
    if (error.status === 401) question.ask(notice);
    else setText(notice, `${error.message} Trying again …`);
  };
  addEventListener("hashchange", open);
  page.watch(changed, failed);
  open();
};

place("skip").addEventListener("click", (event) => {
  event.preventDefault();
  place("main").focus();
});

const firstQuestion = secretQuestion(() => void begin());

/** Begins once the emulator has said what the forms offer. */
const begin = async () => {
  const notice = place("notice");
  try {
    start(new Page(await readTables()));
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.status === 401) return firstQuestion.ask(notice);
    setText(notice, `${error.message} Trying again …`);
    setTimeout(() => void begin(), 2_000);
  }
};

void begin();
