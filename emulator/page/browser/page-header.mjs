import { element, fill, setAttributes, setText } from "./elements.mjs";
import { advanceClock, resetEmulator, useControlSecret } from "./server-calls.mjs";
import { countText, dayTime } from "./times.mjs";

/** @import { Page } from "./page.mjs" */

/** @typedef {{ readonly name: string, readonly title: string, readonly count?: (page: Page) => number }} ViewLink */

/** Links to the views, each with how much there is. @param {HTMLElement} list @param {readonly ViewLink[]} views */
export const viewLinks = (list, views) => {
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
export const headerActions = (place, page) => {
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
export const factsText = ({ state: { latest } }) => {
  if (!latest) return "";
  const plan = latest.plan === "none" ? "no rate limits" : `plan ${latest.plan}`;
  return `${plan} · ${latest.clock === "manual" ? "clock moved by hand: " : ""}${dayTime(latest.now)}`;
};

/**
 * Asks for the secret of control, where the emulator was started with one.
 *
 * @param {() => void} given
 */
export const secretQuestion = (given) => {
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
