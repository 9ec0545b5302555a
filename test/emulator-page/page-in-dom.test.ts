import { setImmediate } from "node:timers/promises";
import { Window } from "happy-dom";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Running, start } from "../emulator/running.js";
import { sampleSnapshot, smallAccount } from "./support/sample-account.js";

// The page's own modules in a document of the test, on a real emulator: what holds in a browser holds
// where none can be had. Layout and style are for the tests in a browser.

const hostile = '<img src=x onerror="window.harmed=1">';
let service: Running;
let dom: Window;
/** Calls of the page whose answers are not read yet. */
let underWay = 0;

/** What the modules take from their surroundings. */
const names = [
  "document",
  "location",
  "Event",
  "Node",
  "Element",
  "HTMLElement",
  "requestAnimationFrame",
  "addEventListener",
  "ResizeObserver",
] as const;

beforeAll(async () => {
  service = await start({ clock: "real", plan: "basic" });
  const nameOf = (name: string): string => `${hostile} ${name}`;
  await service.control("PUT", "/snapshot", sampleSnapshot(smallAccount, { nameOf }));
  const { origin } = new URL(service.emulator.baseUrl);
  dom = new Window({ url: `${origin}/` });
  const { text } = await service.send("GET", "/");
  dom.document.write(text.replaceAll(/<script[^>]*><\/script>|<link[^>]*>/g, ""));
  for (const name of names) {
    const value: unknown = dom[name];
    vi.stubGlobal(name, name === "addEventListener" ? dom.addEventListener.bind(dom) : value);
  }
  const { fetch: send } = globalThis;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    underWay += 1;
    try {
      const response = await send(new URL(path, origin), init);
      const body = response.status === 204 ? null : await response.text();
      return new Response(body, { status: response.status });
    } finally {
      underWay -= 1;
    }
  });
  await import("../../emulator/page/browser/main.mjs");
});

afterAll(async () => {
  // Out of sight the page does not look again; what it has asked for it shows before it is taken away.
  Object.defineProperty(dom.document, "hidden", { value: true });
  dom.document.dispatchEvent(new dom.Event("visibilitychange"));
  await vi.waitFor(() => expect(underWay).toBe(0));
  await setImmediate();
  await dom.happyDOM.close();
  await service[Symbol.asyncDispose]();
  vi.unstubAllGlobals();
});

/** Opens a view, and waits until it says this. */
const view = async (hash: string, text: string): Promise<void> => {
  dom.location.hash = hash;
  await vi.waitFor(() => expect(dom.document.querySelector("main")?.textContent).toContain(text), {
    timeout: 60_000,
  });
};

const find = (selector: string): HTMLElement => {
  const found = document.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`There is no ${selector}.`);
  return found;
};

const submit = (form: HTMLElement): void => {
  form.dispatchEvent(new Event("submit", { cancelable: true }));
};

test("names and messages are text, whatever they hold", async () => {
  await view("#objects", `${hostile} orders-app`);
  expect(document.querySelectorAll(".node").length).toBe(14);
  await view(
    "#conversations/70000000-0000-4000-8000-000000000001",
    `${hostile} Which order is it?`,
  );
  const speech = [...document.querySelectorAll(".speech")];
  // Another test says something there by hand, before or after this one.
  expect(speech.filter((each) => !each.textContent?.includes("by hand")).length).toBe(6);
  expect(document.querySelectorAll("main img").length).toBe(0);
});

test("a message that is sent by hand shows up, with its call and what is left of the bucket", async () => {
  await view("#conversations/70000000-0000-4000-8000-000000000001", "Send");
  const form = find('form[aria-label="Send a message"]');
  const text = form.querySelector("textarea");
  if (!text) throw new Error("There is no field for the text.");
  text.value = "Said by hand";
  submit(form);
  await view("#conversations/70000000-0000-4000-8000-000000000001", "Said by hand");
  await view("#calls", "/conversations/messages");
  await view("#rates", "POST /conversations/messages");
  const [call] = (await service.emulator.control.log()).slice(-1);
  expect(call).toMatchObject({ clientId: "page", status: 202 });
});
