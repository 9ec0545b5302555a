import { choice, element, labelled, setText } from "../elements.mjs";
import { turnSwitch } from "../server-calls.mjs";

/** @import { FormTables } from "../../form-tables.js" */
/** @import { Page } from "../page.mjs" */

/** @typedef {FormTables["switches"][number]} SwitchChoice */

/** The control of a switch: a choice, a number or a word. @param {SwitchChoice} entry @returns {HTMLSelectElement | HTMLInputElement} */
const controlFor = ({ values }) => {
  if ("min" in values)
    return element("input", { type: "number", min: values.min, max: values.max, required: true });
  if (values.length > 0) return choice(values);
  return element("input", { autocomplete: "off", required: true, spellcheck: "false" });
};

/** How certain a default is. @type {Readonly<Record<SwitchChoice["basis"], string>>} */
const certainty = { assumed: "assumed", public: "publicly documented", spec: "specified" };

/** @param {Page} page @param {SwitchChoice} entry */
const switchRow = (page, entry) => {
  const control = controlFor(entry);
  const said = element("p", { class: "said", role: "status" });
  const field = labelled(entry.name, control, entry.doc);
  field.append(
    element("p", { class: "hint" }, `Default: ${entry.default} (${certainty[entry.basis]})`),
  );
  const row = element("li", { class: "card switch" }, field, said);
  let known = "";
  const show = () => {
    const value = String(
      page.state.latest?.switches[
        /** @type {keyof import("../../../control/switches.js").Switches} */ (entry.name)
      ] ?? "",
    );
    row.classList.toggle("changed", value !== String(entry.default));
    // What is being typed is not taken away.
    if (value === known) return;
    known = value;
    control.value = value;
  };
  control.addEventListener("change", async () => {
    const problem = await turnSwitch(entry.name, control.value).then(
      () => "",
      (error) => String(error.message),
    );
    setText(said, problem);
    if (problem !== "") control.value = known;
    page.lookNow();
  });
  return { row, show, words: `${entry.name} ${entry.doc}`.toLowerCase() };
};

/** Everything that is uncertain about the service, turned by hand. @param {Page} page */
export const switchesView = (page) => {
  const text = element("input", {
    type: "search",
    placeholder: "secrets, paging …",
    autocomplete: "off",
  });
  const onlyChanged = element("input", { type: "checkbox" });
  const rows = page.tables.switches.map((entry) => switchRow(page, entry));
  const count = element("p", { class: "count" });
  const list = element("ul", { class: "plain switches" }, ...rows.map(({ row }) => row));
  const filter = () => {
    for (const { row, words } of rows)
      row.hidden =
        !words.includes(text.value.toLowerCase().trim()) ||
        (onlyChanged.checked && !row.classList.contains("changed"));
  };
  const update = () => {
    for (const { show } of rows) show();
    const changed = rows.filter(({ row }) => row.classList.contains("changed")).length;
    setText(
      count,
      changed === 0 ? "all at their defaults" : `${changed} of ${rows.length} changed`,
    );
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
