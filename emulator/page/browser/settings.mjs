import { choice, counted, element, fill, labelled, optionOf, setText } from "./elements.mjs";
import { addFault, clearFaults, turnSwitch } from "./page.mjs";

/** @import { FormTables } from "../page-routes.js" */
/** @import { Page } from "./page.mjs" */
/** @import { FaultRule } from "../../service/faults.js" */
/** @import { SwitchName } from "../../service/switches.js" */

/** @typedef {FormTables["faults"][number]} FaultChoice */

/** What was typed, as JSON if it is JSON, else as text. @param {string} typed @returns {unknown} */
export const valueTyped = (typed) => {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
};

/** Whether a fault can be on an endpoint. @param {FaultChoice} fault @param {string} endpoint */
export const fitsEndpoint = ({ isForLists }, endpoint) =>
  !isForLists || /^GET [^{]+$/.test(endpoint);

/** Adds a rule of what is to go wrong. */
class FaultForm {
  #kind = choice([]);
  #doc = element("p", { class: "hint", role: "status" });
  #times = element("input", { type: "number", min: 1, value: 1, required: true });
  #after = element("input", { type: "number", min: 0, value: 0, required: true });
  #members = element("div", { class: "fields" });
  #said = element("p", { class: "said", role: "status" });
  /** @type {readonly (readonly [name: string, control: HTMLInputElement])[]} */
  #controls = [];

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    this.on = choice(page.tables.endpoints);
    this.element = this.#form();
    this.on.addEventListener("input", () => this.#offerKinds());
    this.#kind.addEventListener("input", () => this.#offerMembers());
    this.#offerKinds();
  }

  #form() {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      void this.#add();
    };
    const [times, after] = [
      labelled("Times", this.#times),
      labelled("After so many calls", this.#after),
    ];
    const add = element("button", { type: "submit", class: "main" }, "Add");
    return element(
      "form",
      { class: "card", "aria-label": "Add a fault", submit },
      element("h2", {}, "Add a fault"),
      element(
        "div",
        { class: "fields" },
        labelled("Call", this.on),
        labelled("What goes wrong", this.#kind),
      ),
      this.#doc,
      this.#members,
      element("div", { class: "fields" }, times, after),
      element("div", { class: "send" }, this.#said, add),
    );
  }

  #offerKinds() {
    const before = this.#kind.value;
    const fitting = this.page.tables.faults.filter((each) => fitsEndpoint(each, this.on.value));
    const kinds = fitting.map(({ kind }) => kind);
    fill(this.#kind, ...kinds.map(optionOf));
    this.#kind.value = kinds.includes(before) ? before : (kinds[0] ?? "");
    if (this.#kind.value !== before) this.#offerMembers();
  }

  #offerMembers() {
    const fault = this.page.tables.faults.find(({ kind }) => kind === this.#kind.value);
    const members = fault?.members ?? [];
    setText(this.#doc, fault ? `The service ${fault.doc}.` : "");
    this.#controls = members.map(({ name, isRequired }) => [
      name,
      element("input", { autocomplete: "off", required: isRequired }),
    ]);
    const fields = this.#controls.map(([name, control], place) =>
      labelled(name, control, members[place]?.rule),
    );
    fill(this.#members, ...fields);
  }

  #rule() {
    const given = this.#controls.filter(([, control]) => control.value !== "");
    return {
      on: this.on.value,
      kind: this.#kind.value,
      times: Number(this.#times.value),
      after: Number(this.#after.value),
      ...Object.fromEntries(given.map(([name, control]) => [name, valueTyped(control.value)])),
    };
  }

  async #add() {
    setText(this.#said, await this.page.problemOf(addFault(this.#rule())));
    this.page.lookNow();
  }
}

/** @param {unknown} value */
const shortText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** A rule in a sentence. @param {FaultRule} rule */
export const ruleText = ({ on, kind, times, after, ...members }) => {
  const more = Object.entries(members).map(([name, value]) => `${name} ${shortText(value)}`);
  const wait = after > 0 ? [`after ${counted(after, "call")}`] : [];
  return [`${on}: ${kind}`, ...more, ...wait, counted(times, "time")].join(", ");
};

/** What is still to go wrong. @param {Page} page */
const pendingFaults = (page) => {
  const list = element("ul", { class: "plain rules" });
  const none = element("p", { class: "empty" }, "Nothing is to go wrong.");
  const said = element("p", { class: "said", role: "status" });
  const remove = element("button", { type: "button" }, "Remove all");
  remove.addEventListener("click", async () => {
    setText(said, await page.problemOf(clearFaults()));
    page.lookNow();
  });
  const end = element("div", { class: "send" }, said, remove);
  const title = element("h2", {}, "Still to come");
  let shown = "";
  const update = () => {
    const texts = (page.state.latest?.faults ?? []).map(ruleText);
    none.hidden = texts.length > 0;
    remove.hidden = texts.length === 0;
    if (shown === texts.join("\n")) return;
    shown = texts.join("\n");
    fill(list, ...texts.map((text) => element("li", {}, text)));
  };
  return { element: element("section", { class: "card" }, title, none, list, end), update };
};

/** What is to go wrong, set by hand. @param {Page} page */
export const faultsView = (page) => {
  const pending = pendingFaults(page);
  const form = new FaultForm(page);
  const view = element("div", { class: "sheet two" }, form.element, pending.element);
  return { element: view, update: pending.update };
};

/** @typedef {FormTables["switches"][number]} SwitchChoice */

/** How certain a default is. @type {Readonly<Record<SwitchChoice["basis"], string>>} */
const certainty = { assumed: "assumed", public: "publicly documented", spec: "specified" };

/** A choice, a number or a word. @param {SwitchChoice} entry @returns {HTMLSelectElement | HTMLInputElement} */
const controlFor = ({ values }) => {
  if ("min" in values) {
    const { min, max } = values;
    return element("input", { type: "number", min, max, required: true });
  }
  if (values.length > 0) return choice(values);
  return element("input", { autocomplete: "off", required: true, spellcheck: "false" });
};

/** One switch, with what is said of it. */
class SwitchCard {
  #said = element("p", { class: "said", role: "status" });
  #known = "";

  /** @param {Page} page @param {SwitchChoice} entry */
  constructor(page, entry) {
    this.page = page;
    this.entry = entry;
    const { name, doc, basis, default: usual } = entry;
    this.control = controlFor(entry);
    this.words = `${name} ${doc}`.toLowerCase();
    const field = labelled(name, this.control, doc);
    const about = element("p", { class: "hint" }, `Default: ${usual} (${certainty[basis]})`);
    field.append(about);
    this.element = element("li", { class: "card switch" }, field, this.#said);
    this.control.addEventListener("change", () => void this.#turn());
  }

  get isChanged() {
    return this.element.classList.contains("changed");
  }

  update() {
    const { switches } = this.page.state.latest ?? {};
    const value = String(switches?.[/** @type {SwitchName} */ (this.entry.name)] ?? "");
    this.element.classList.toggle("changed", value !== String(this.entry.default));
    // What is being typed is not taken away.
    if (value === this.#known) return;
    this.#known = value;
    this.control.value = value;
  }

  async #turn() {
    const problem = await this.page.problemOf(turnSwitch(this.entry.name, this.control.value));
    setText(this.#said, problem);
    if (problem !== "") this.control.value = this.#known;
    this.page.lookNow();
  }
}

/** Everything that is uncertain about the service, turned by hand. @param {Page} page */
export const switchesView = (page) => {
  const text = element("input", {
    type: "search",
    placeholder: "secrets, paging …",
    autocomplete: "off",
  });
  const onlyChanged = element("input", { type: "checkbox" });
  const cards = page.tables.switches.map((entry) => new SwitchCard(page, entry));
  const count = element("p", { class: "count" });
  const list = element("ul", { class: "plain switches" }, ...cards.map((card) => card.element));
  const filter = () => {
    const wanted = text.value.toLowerCase().trim();
    for (const card of cards)
      card.element.hidden =
        !card.words.includes(wanted) || (onlyChanged.checked && !card.isChanged);
  };
  const update = () => {
    for (const card of cards) card.update();
    const changed = cards.filter((card) => card.isChanged).length;
    const some = `${changed} of ${cards.length} changed`;
    setText(count, changed === 0 ? "all at their defaults" : some);
  };
  for (const control of [text, onlyChanged]) control.addEventListener("input", filter);
  const filters = element(
    "form",
    { class: "filters", submit: (event) => event.preventDefault() },
    labelled("Search", text),
    labelled("Only changed ones", onlyChanged),
    count,
  );
  return { element: element("div", { class: "sheet" }, filters, list), update };
};
