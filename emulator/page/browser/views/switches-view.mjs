import { choice, element, labelled, setText } from "../elements.mjs";
import { turnSwitch } from "../server-calls.mjs";

/** @import { SwitchName } from "../../../service/switches.js" */
/** @import { FormTables } from "../../form-tables.js" */
/** @import { Page } from "../page.mjs" */

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
