import { choice, element, fill, labelled, optionOf, setText } from "../elements.mjs";
import { addFault, clearFaults } from "../server-calls.mjs";
import { counted } from "../times.mjs";

/** @import { FaultRule } from "../../../control/faults.js" */
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

/** @param {FaultRule} rule */
export const ruleText = ({ on, kind, times, after, ...members }) => {
  const more = Object.entries(members).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const wait = after > 0 ? [`after ${counted(after, "call")}`] : [];
  return [`${on}: ${kind}`, ...more, ...wait, `${counted(times, "time")}`].join(", ");
};

/** The form that adds a rule. @param {Page} page */
const faultForm = (page) => {
  const { endpoints, faults } = page.tables;
  const on = choice(endpoints);
  const kind = choice([]);
  const doc = element("p", { class: "hint", role: "status" });
  const times = element("input", { type: "number", min: 1, value: 1, required: true });
  const after = element("input", { type: "number", min: 0, value: 0, required: true });
  const members = element("div", { class: "fields" });
  const said = element("p", { class: "said", role: "status" });
  /** @type {readonly { readonly name: string, readonly control: HTMLInputElement }[]} */
  let controls = [];

  const chosen = () => faults.find((each) => each.kind === kind.value);
  const showMembers = () => {
    const fault = chosen();
    setText(doc, fault ? `The service ${fault.doc}.` : "");
    controls = (fault?.members ?? []).map(({ name, isRequired }) => ({
      name,
      control: element("input", { autocomplete: "off", required: isRequired }),
    }));
    fill(
      members,
      ...controls.map(({ name, control }, place) =>
        labelled(name, control, fault?.members[place]?.rule),
      ),
    );
  };
  const offerKinds = () => {
    const before = kind.value;
    const fitting = faults.filter((each) => fitsEndpoint(each, on.value)).map((each) => each.kind);
    fill(kind, ...fitting.map(optionOf));
    kind.value = fitting.includes(before) ? before : (fitting[0] ?? "");
    if (kind.value !== before) showMembers();
  };
  const submit = async () => {
    const given = controls.filter(({ control }) => control.value !== "");
    const rule = {
      on: on.value,
      kind: kind.value,
      times: Number(times.value),
      after: Number(after.value),
      ...Object.fromEntries(given.map(({ name, control }) => [name, valueTyped(control.value)])),
    };
    const problem = await addFault(rule).then(
      () => "",
      (error) => String(error.message),
    );
    setText(said, problem);
    page.lookNow();
  };
  on.addEventListener("input", offerKinds);
  kind.addEventListener("input", showMembers);
  offerKinds();
  return element(
    "form",
    {
      class: "card",
      "aria-label": "Add a fault",
      submit: (event) => {
        event.preventDefault();
        void submit();
      },
    },
    element("h2", {}, "Add a fault"),
    element("div", { class: "fields" }, labelled("Call", on), labelled("What goes wrong", kind)),
    doc,
    members,
    element(
      "div",
      { class: "fields" },
      labelled("Times", times),
      labelled("After so many calls", after),
    ),
    element(
      "div",
      { class: "send" },
      said,
      element("button", { type: "submit", class: "main" }, "Add"),
    ),
  );
};

/** What is to go wrong, set by hand. @param {Page} page */
export const faultsView = (page) => {
  const list = element("ul", { class: "plain rules" });
  const none = element("p", { class: "empty" }, "Nothing is to go wrong.");
  const remove = element("button", { type: "button" }, "Remove all");
  const said = element("p", { class: "said", role: "status" });
  remove.addEventListener("click", async () => {
    setText(
      said,
      await clearFaults().then(
        () => "",
        (error) => String(error.message),
      ),
    );
    page.lookNow();
  });
  let shown = "";
  const update = () => {
    const faults = page.state.latest?.faults ?? [];
    none.hidden = faults.length > 0;
    remove.hidden = faults.length === 0;
    const texts = faults.map(ruleText);
    if (shown === texts.join("\n")) return;
    shown = texts.join("\n");
    fill(list, ...texts.map((text) => element("li", {}, text)));
  };
  const pending = element(
    "section",
    { class: "card" },
    element("h2", {}, "Still to come"),
    none,
    list,
    element("div", { class: "send" }, said, remove),
  );
  return { element: element("div", { class: "sheet two" }, faultForm(page), pending), update };
};
