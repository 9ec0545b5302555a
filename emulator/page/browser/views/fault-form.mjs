import { choice, element, fill, labelled, optionOf, setText } from "../elements.mjs";
import { addFault } from "../server-calls.mjs";

/** @import { FormTables } from "../../form-tables.js" */
/** @import { Page } from "../page.mjs" */

/** @typedef {FormTables["faults"][number]} FaultChoice */

/** What was typed, as JSON where it is JSON, else as text. @param {string} typed @returns {unknown} */
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
export class FaultForm {
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
