import { callsView, deliveriesView, ratesView } from "./calls.mjs";
import { conversationsView } from "./conversations.mjs";
import { countText, dayTime, element, fill, setAttributes, setText } from "./elements.mjs";
import { objectsView } from "./objects.mjs";
import {
  advanceClock,
  CallError,
  Page,
  readTables,
  resetEmulator,
  useControlSecret,
} from "./page.mjs";
import { faultsView, switchesView } from "./settings.mjs";

/** @typedef {{ readonly name: string, readonly title: string, readonly count?: (page: Page) => number }} ViewLink */

/** Links to the views, each with how much there is. @param {HTMLElement} list @param {readonly ViewLink[]} views */
const viewLinks = (list, views) => {
  const links = views.map(({ name, title, count }) => {
    const badge = count && element("span", { class: "badge" }, "0");
    return { name, count, badge, link: element("a", { href: `#${name}` }, title, badge) };
  });
  fill(list, ...links.map(({ link }) => element("li", {}, link)));
  return {
    /** @param {Page} page */
    update: (page) => {
      for (const { count, badge } of links)
        if (count && badge) setText(badge, countText(count(page)));
    },
    /** @param {string} current */
    mark: (current) => {
      for (const { name, link } of links)
        setAttributes(link, { "aria-current": name === current ? "page" : undefined });
    },
  };
};

/** The question before everything goes. @param {Page} page */
const resetDialog = (page) => {
  const said = element("p", { class: "said", role: "status" });
  const yes = element("button", { type: "button", class: "main" }, "Remove everything");
  const no = element("button", { type: "button" }, "Cancel");
  const dialog = element(
    "dialog",
    { "aria-labelledby": "reset-title" },
    element("h2", { id: "reset-title" }, "Reset the emulator?"),
    element(
      "p",
      {},
      "All objects, conversations and assets go, and so do the log and the faults. Clients and switches stay.",
    ),
    said,
    element("div", { class: "send" }, no, yes),
  );
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", async () => {
    const problem = await page.problemOf(resetEmulator());
    setText(said, problem);
    if (problem === "") dialog.close();
    page.lookNow();
  });
  return dialog;
};

/** @type {readonly (readonly [label: string, ms: number])[]} */
const steps = [
  ["+1 s", 1_000],
  ["+1 min", 60_000],
  ["+1 h", 3_600_000],
];

/** What can be done on every view: move a manual clock, reset. @param {HTMLElement} place @param {Page} page */
const headerActions = (place, page) => {
  const dialog = resetDialog(page);
  const clock = element(
    "span",
    { class: "clock", role: "group", "aria-label": "Move the clock", hidden: true },
    ...steps.map(([label, ms]) =>
      element(
        "button",
        {
          type: "button",
          click: () =>
            void page.problemOf(advanceClock(ms)).then((problem) => {
              setText(said, problem);
              page.lookNow();
            }),
        },
        label,
      ),
    ),
  );
  const said = element("p", { class: "said", role: "status" });
  const reset = element("button", { type: "button", click: () => dialog.showModal() }, "Reset…");
  fill(place, said, clock, reset, dialog);
  return {
    update: () => {
      clock.hidden = page.state.latest?.clock !== "manual";
    },
  };
};

/** Plan and time of the emulator, in a sentence. @param {Page} page */
const factsText = ({ state: { latest } }) => {
  if (!latest) return "";
  const plan = latest.plan === "none" ? "no rate limits" : `plan ${latest.plan}`;
  return `${plan} · ${latest.clock === "manual" ? "clock moved by hand: " : ""}${dayTime(latest.now)}`;
};

/**
 * Asks for the secret of control, if the emulator was started with one.
 *
 * @param {() => void} given
 */
const secretQuestion = (given) => {
  const said = element("p", { class: "said", role: "status" });
  let isGiven = false;
  const input = element("input", {
    type: "password",
    id: "secret",
    autocomplete: "off",
    required: true,
  });
  const form = element(
    "form",
    {
      submit: (event) => {
        event.preventDefault();
        isGiven = true;
        useControlSecret(input.value);
        given();
      },
    },
    element(
      "label",
      { for: "secret" },
      "This emulator asks for its control secret, which it printed when it started:",
    ),
    input,
    element("button", { type: "submit", class: "main" }, "Go on"),
    said,
  );
  return {
    element: form,
    /** The emulator wants a secret: this is asked, or the one that was given is wrong. @param {HTMLElement} place */
    ask: (place) => {
      if (!place.contains(form)) fill(place, form);
      if (isGiven) setText(said, "That is not the secret of this emulator.");
      isGiven = false;
      if (!form.contains(document.activeElement)) input.focus();
    },
  };
};

/** @typedef {{ readonly element: HTMLElement, readonly update: () => void }} View */
/** @typedef {ViewLink & { readonly open: (page: Page) => View }} ViewChoice */

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
