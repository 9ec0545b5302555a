import {
  choice,
  counted,
  element,
  fill,
  filterBar,
  foreignText,
  formOf,
  group,
  isFound,
  labelled,
  offer,
  paragraph,
  setText,
  statusLine,
} from "./elements.mjs";

import { parsedJson } from "./page.mjs";

/** @import { FormField, FormTables } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */
/** @import { FaultRule } from "../../service/faults.js" */

/** A choice, a number, or a text. @param {FormField} field @returns {HTMLSelectElement | HTMLInputElement} */
const controlFor = ({ values, isRequired }) => {
  if ("min" in values) return numberInput(values.min, values.max);
  if (values.length > 0) return choice(values);
  return element("input", { autocomplete: "off", required: isRequired, spellcheck: "false" });
};

/** @param {number} min @param {number} [max] */
const numberInput = (min, max) => element("input", { type: "number", min, max, required: true });

/** The input, parsed if it is JSON, otherwise as text. @param {string} typed @returns {unknown} */
export const valueTyped = (typed) => {
  const value = parsedJson(typed);
  return value === undefined ? typed : value;
};

/** Whether a fault can apply to an endpoint. @param {FormTables["faults"][number]} fault @param {string} endpoint */
export const fitsEndpoint = ({ isForLists }, endpoint) =>
  !isForLists || /^GET [^{]+$/.test(endpoint);

/** Adds a rule for what should go wrong. @param {Page} page */
const faultForm = (page) => {
  const { endpoints, faults } = page.tables;
  const [on, kind] = [choice(endpoints), choice()];
  const doc = element("p", { class: "hint", role: "status" });
  const members = group("fields");
  const [times, after] = [numberInput(1), numberInput(0)];
  [times.value, after.value] = ["1", "0"];
  const said = statusLine();
  /** @type {readonly (readonly [name: string, control: HTMLInputElement | HTMLSelectElement])[]} */
  let controls = [];

  const offerMembers = () => {
    const fault = faults.find((each) => each.kind === kind.value);
    const fields = fault?.members ?? [];
    setText(doc, fault ? `The service ${fault.doc}.` : "");
    controls = fields.map((field) => [field.name, controlFor(field)]);
    fill(
      members,
      ...controls.map(([name, control], place) =>
        labelled(name, control, fields[place]?.doc ?? ""),
      ),
    );
  };
  const offerKinds = () => {
    const { value: before } = kind;
    const fitting = faults.filter((each) => fitsEndpoint(each, on.value));
    offer(
      kind,
      fitting.map((each) => each.kind),
    );
    if (kind.value !== before) offerMembers();
  };
  on.addEventListener("input", offerKinds);
  kind.addEventListener("input", offerMembers);
  offerKinds();

  const add = () => {
    const given = controls.filter(([, { value }]) => value !== "");
    void page.change(said, "POST", "/faults", {
      on: on.value,
      kind: kind.value,
      times: Number(times.value),
      after: Number(after.value),
      ...Object.fromEntries(given.map(([name, { value }]) => [name, valueTyped(value)])),
    });
  };
  return formOf(
    { class: "card", "aria-label": "Add a fault" },
    add,
    element("h2", {}, "Add a fault"),
    group("fields", labelled("Call", on), labelled("What goes wrong", kind)),
    doc,
    members,
    group("fields", labelled("Times", times), labelled("After this many calls", after)),
    group("send", said, element("button", { type: "submit", class: "main" }, "Add")),
  );
};

/** A rule as one line of text. @param {FaultRule} rule */
export const ruleText = ({ on, kind, times, after, ...members }) => {
  const more = Object.entries(members).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const wait = after > 0 ? [`after ${counted(after, "call")}`] : [];
  return [`${on}: ${kind}`, ...more, ...wait, counted(times, "time")].join(", ");
};

/** The view for setting faults by hand. @param {Page} page */
export const faultsView = (page) => {
  const list = element("ul", { class: "plain rules" });
  const none = paragraph("empty", "No faults are pending.");
  const said = statusLine();
  const click = () => void page.change(said, "DELETE", "/faults");
  const remove = element("button", { type: "button", click }, "Remove all");
  let shown = "";
  const update = () => {
    const texts = (page.state.latest?.faults ?? []).map(ruleText);
    none.hidden = texts.length > 0;
    remove.hidden = texts.length === 0;
    if (shown === texts.join("\n")) return;
    shown = texts.join("\n");
    fill(list, ...texts.map((text) => element("li", {}, foreignText(text))));
  };
  const title = element("h2", {}, "Pending faults");
  const end = group("send", said, remove);
  const pending = element("section", { class: "card" }, title, none, list, end);
  return { element: group("sheet two", faultForm(page), pending), update };
};

/** How certain a default is. */
const certainty = { assumed: "assumed", public: "publicly documented", spec: "specified" };

/**
 * One switch, with its description. @param {Page} page @param {FormTables["switches"][number]}
 * entry
 */
const switchCard = (page, entry) => {
  const { name, doc, basis, default: usual } = entry;
  const control = controlFor(entry);
  const said = statusLine();
  const field = labelled(name, control, doc, `Default: ${usual} (${certainty[basis]})`);
  const card = element("li", { class: "card switch" }, field, said);
  let known = "";
  control.addEventListener("change", async () => {
    if (!(await page.change(said, "PUT", "/switches", { [name]: control.value })))
      control.value = known;
  });
  return {
    element: card,
    words: `${name} ${doc}`,
    /** @returns whether the switch is not at its default */
    update: () => {
      const positions = Object.entries(page.state.latest?.switches ?? {});
      const value = String(positions.find(([each]) => each === name)?.[1] ?? "");
      // Text being typed is not overwritten.
      if (value !== known) control.value = value;
      known = value;
      return card.classList.toggle("changed", value !== String(usual));
    },
  };
};

/** The view for setting the switches, which cover everything uncertain about the service. @param {Page} page */
export const switchesView = (page) => {
  const cards = page.tables.switches.map((entry) => switchCard(page, entry));
  const bar = filterBar(
    {
      noun: "switch",
      nothing: "There are no switches.",
      search: ["Search", "secrets, paging …"],
      choices: {
        Show: [
          ["", "all"],
          ["changed", "changed ones"],
        ],
      },
    },
    () => update(),
  );
  const update = () => {
    const [text = "", shown] = bar.values();
    const changed = cards.filter((card) => card.update());
    const wanted = cards.filter(
      (card) => isFound(text, card.words) && (shown === "" || changed.includes(card)),
    );
    for (const card of cards) card.element.hidden = !wanted.includes(card);
    const some = `${changed.length} of ${cards.length} changed`;
    bar.count(wanted.length, cards.length, changed.length === 0 ? "all at their defaults" : some);
  };
  const list = element("ul", { class: "plain switches" }, ...cards.map((card) => card.element));
  return { element: group("sheet", bar.element, bar.empty, list), update };
};
