import { element, fill, setText } from "../elements.mjs";
import { clearFaults } from "../server-calls.mjs";
import { counted } from "../times.mjs";
import { FaultForm } from "./fault-form.mjs";

/** @import { FaultRule } from "../../../service/faults.js" */
/** @import { Page } from "../page.mjs" */

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
