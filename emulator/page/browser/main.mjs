import { ConversationsView } from "./conversations.mjs";
import { causeText, control, useControlSecret, watchEmulator } from "./emulator.mjs";
import { CallsView, DeliveriesView, Notices } from "./logs.mjs";
import { ObjectsView } from "./objects.mjs";
import { html, LabelledField, onValue } from "./parts.mjs";
import { FaultsView, RatesView } from "./service.mjs";
import { countText, dayTime } from "./texts.mjs";
import { useState } from "./vendor/hooks.mjs";
import { render } from "./vendor/preact.mjs";

/** @import { ComponentType } from "preact" */
/** @import { CallError, Known, Question } from "./emulator.mjs" */
/** @import { Page } from "./parts.mjs" */

/** The views, and how much there is in them. @type {Readonly<Record<string, readonly [title: string, view: ComponentType<{ readonly page: Page }>, count?: (known: Known) => number]>>} */
const views = {
  objects: ["Objects", ObjectsView, ({ account }) => account.total],
  conversations: ["Conversations", ConversationsView, ({ total }) => total],
  calls: ["Calls", CallsView, ({ calls }) => calls.entries.length],
  deliveries: ["Deliveries", DeliveriesView, ({ deliveries }) => deliveries.entries.length],
  rates: ["Rates", RatesView],
  faults: ["Faults", FaultsView, ({ faults }) => faults.length],
};

/** @param {string} text */
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** What the address asks for: a view, and what to show in it. */
const readAddress = () => {
  const [name = "", ...rest] = location.hash.replace(/^#/, "").split("/").map(decoded);
  return Object.hasOwn(views, name) ? { name, rest } : { name: "objects", rest: [] };
};

/** @returns {Question} */
const askForShown = () => {
  const { name, rest } = readAddress();
  const [first = ""] = rest;
  return {
    conversation: name === "conversations" && first !== "new" ? first : "",
    object: name === "objects" ? rest.join("/") : "",
    call: name === "calls" && /^\d{1,15}$/.test(first) ? first : "",
  };
};

/** Asks for the secret that the emulator requires. @param {{ readonly lookNow: () => void }} props */
const SecretForm = ({ lookNow }) => {
  const [secret, setSecret] = useState("");
  const [said, say] = useState("");
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    useControlSecret(secret);
    say("That is not this emulator's secret.");
    lookNow();
  };
  return html`<form class="bar notices" aria-label="Control secret" onSubmit=${send}>
    <${LabelledField} label="This emulator requires its control secret, which it printed when it started:">
      <input type="password" autocomplete="off" value=${secret} onInput=${onValue(setSecret)} />
    <//>
    <button type="submit">Go on</button>
    <p class="said" role="status">${said}</p>
  </form>`;
};

const steps = { "+1 s": 1_000, "+1 min": 60_000, "+1 h": 3_600_000 };
const resetQuestion =
  "Remove all objects, conversations, assets, and faults, and clear the log? Clients and switches are kept.";

/** What is known of the emulator, and what can be done to all of it. @param {{ readonly known: Known, readonly lookNow: () => void }} props */
const Facts = ({ known: { clock, plan, now }, lookNow }) => {
  const [said, say] = useState("");
  const change = async (/** @type {string} */ path, /** @type {unknown} */ body = undefined) => {
    say(await control("POST", path, body).then(() => "", causeText));
    lookNow();
  };
  const buttons = Object.entries(steps).map(
    ([label, advanceMs]) =>
      html`<button type="button" onClick=${() => change("/clock", { advanceMs })}>${label}</button>`,
  );
  const isManual = clock === "manual";
  const limits = plan === "none" ? "no rate limits" : `plan ${plan}`;
  return html`
    <p class="quiet" id="facts">${limits} · ${isManual && "clock moved by hand: "}${dayTime(now)}</p>
    <p class="said" role="status">${said}</p>
    ${isManual && html`<span role="group" aria-label="Advance the clock">${buttons}</span>`}
    <button type="button" onClick=${() => confirm(resetQuestion) && change("/reset")}>Reset…</button>
  `;
};

/** @param {{ readonly known: Known | undefined, readonly failure: CallError | undefined, readonly lookNow: () => void }} props */
const App = ({ known, failure, lookNow }) => {
  const { name, rest } = readAddress();
  const [, View] = views[name] ?? [];
  const tabs = Object.entries(views).map(([view, [text, , count]]) => {
    const badge = known && count && html`<span class="badge">${countText(count(known))}</span>`;
    const current = view === name ? "page" : undefined;
    return html`<a href=${`#${view}`} aria-current=${current}>${text}${badge}</a>`;
  });
  const problem =
    failure && html`<p class="bar notices" role="status">${failure.message} Trying again …</p>`;
  const page = { known, rest, lookNow };
  return html`
    <header class="bar">
      <h1>Conversation emulator</h1>
      ${known && html`<${Facts} known=${known} lookNow=${lookNow} />`}
    </header>
    <nav aria-label="Views">${tabs}</nav>
    ${known && html`<${Notices} page=${page} />`}
    ${failure?.status === 401 ? html`<${SecretForm} lookNow=${lookNow} />` : problem}
    <main>${known && html`<${View} page=${page} />`}</main>
  `;
};

/** @type {{ known: Known | undefined, failure: CallError | undefined }} */
const shown = { known: undefined, failure: undefined };
const root = document.body.appendChild(document.createElement("div"));
const draw = () => render(html`<${App} ...${shown} lookNow=${lookNow} />`, root);
const lookNow = watchEmulator(
  askForShown,
  (known) => {
    Object.assign(shown, { known, failure: undefined });
    draw();
  },
  (failure) => {
    Object.assign(shown, { failure });
    draw();
  },
);
addEventListener("hashchange", () => {
  draw();
  lookNow();
});
draw();
lookNow();
