import { expect } from "vitest";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { sendAsset, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const hostile = [
  '<img src=x onerror="window.harmed=1">',
  "<script>window.harmed=1</script>",
  '"><svg onload=window.harmed=1>',
  "javascript:window.harmed=1//",
  "{{constructor.constructor('window.harmed=1')()}}",
  "\u202Egnp.exe \u0000\uFFFF \u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "__proto__",
  "\u2069\u2069\u202Egnp.exe",
];

const views = [
  "objects",
  "objects/clientapplications/20000000-0000-4000-8000-000000000000",
  "conversations/70000000-0000-4000-8000-000000000001",
  "conversations/new",
  "calls",
  "calls/0",
  "calls/1",
  "calls/of/conversations/70000000-0000-4000-8000-000000000001",
  "deliveries",
  "%3Cimg%20src=x%20onerror=window.harmed=1%3E",
  "objects/%E0%A4%A/..",
];

/** Texts that hold a character which turns the direction of writing, without an element that ends it. */
const textsOutOfBounds = (): string[] => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found: string[] = [];
  while (texts.nextNode()) {
    const { textContent: data, parentElement } = texts.currentNode;
    if (
      /[\u202a-\u202e\u2066-\u2069]/.test(data ?? "") &&
      !parentElement?.closest("bdi, [dir=auto]")
    )
      found.push(data ?? "");
  }
  return found;
};

for (const text of hostile)
  inBrowser(
    `${JSON.stringify(text)} as every name and message is a text, and no more`,
    async (browser) => {
      const nameOf = (name: string): string => `${text} ${name}`;
      const { page, service, view } = await openPage(browser, { sample: smallAccount, nameOf });
      await service.call("GET", `/channels/${encodeURIComponent(text)}`);
      await service.call("POST", "/channels", { type: text, [text]: [text] });
      await service.emulator.control.faults({
        on: "GET /channels",
        kind: "status",
        status: 503,
        body: text,
      });
      for (const name of views) {
        await view(name);
        await page.waitForFunction(() => document.querySelector("main")?.childElementCount === 1);
        expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
      }
      await view("conversations/70000000-0000-4000-8000-000000000001");
      // As the text that is sought.
      await page.getByLabel("Search").fill(text);
      await page.locator(".item").first().waitFor();
      expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
      await page.getByLabel("Search").fill("order");
      await page.locator(".item mark").first().waitFor();
      expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
      const log = page.getByRole("log");
      await log.locator("li").first().waitFor();
      expect(await log.textContent()).toContain(text);
      expect(await page.evaluate(() => "harmed" in window)).toBe(false);
      expect(await page.locator("main img, main script, main svg[onload]").count()).toBe(0);
    },
  );

/** Where the words of a text stand: further to the right, or below, is more. */
const placesOfWords = (element: Element): number[] => {
  const { firstChild: text } = element;
  const range = document.createRange();
  return [...(text?.textContent ?? "").matchAll(/\w+/g)].map(({ 0: word, index }) => {
    if (text) range.setStart(text, index);
    if (text) range.setEnd(text, index + word.length);
    const { left, top } = range.getBoundingClientRect();
    return 10_000 * top + left;
  });
};

for (const text of ["\u202Egnp.exe", "\u2069\u2069\u202Egnp", "\u202C\u2067abc", "\u05E9\u202E"])
  inBrowser(`${JSON.stringify(text)} as a name turns nothing after it round`, async (browser) => {
    const nameOf = (name: string): string => `${name}${text}`;
    const { page, view } = await openPage(browser, { sample: smallAccount, nameOf });
    await view("objects/participants/30000000-0000-4000-8000-000000000000");
    const noun = page.locator(".details li .quiet", { hasText: "client application" });
    await noun.waitFor();
    const [client = 0, application = 0] = await noun.evaluate(placesOfWords);
    expect(client).toBeLessThan(application);
  });

const harm = "window.opener.harmed=1;window.harmed=1";
for (const [name, content, savedAs] of [
  ["harm.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="${harm}"/>`, "harm.svg"],
  ["harm.html", `<script>${harm}</script>`, "harm.html"],
  ["\u202Efdp.html", `<script>${harm}</script>`, "_fdp.html"],
  ["harm.xml", `<x:script xmlns:x="http://www.w3.org/1999/xhtml">${harm}</x:script>`, "harm.xml"],
] as const)
  inBrowser(`${JSON.stringify(name)} as an asset is saved, and never run`, async (browser) => {
    const { page, service, view } = await openPage(browser, { sample: smallAccount });
    await sendAsset(service, name, content);
    await view("conversations/70000000-0000-4000-8000-000000000001");
    const link = page.getByRole("list", { name: "Attachments" }).getByRole("link");
    await link.waitFor();
    expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
    const downloading = page.waitForEvent("download");
    await link.click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(savedAs);
    expect(await page.evaluate(() => "harmed" in window)).toBe(false);
    expect(page.context().pages()).toHaveLength(1);
  });

inBrowser("bodies are shown as far as they can be, whatever they are", async (browser) => {
  const { page, service, view } = await openPage(browser, { sample: smallAccount });
  const raw = (body: string | Buffer) =>
    service.call("POST", "/channels", undefined, { raw: body });
  await raw(Buffer.from([0, 1, 2, 255, 254, 0]));
  await raw(JSON.stringify({ type: "x".repeat(1_000_000) }));
  await raw(`${"[".repeat(100)}${"]".repeat(100)}`);
  await raw(JSON.stringify({ type: Array.from({ length: 8_000 }, (_, place) => place) }));
  await service.call("POST", "/nowhere", { password: "hunter2-nowhere" });
  const shown = page.getByRole("complementary", { name: "Chosen call" });
  const notes = ["is not JSON", "is too large to be kept", "is nested too deeply"];
  for (const [place, note] of notes.entries()) {
    await view(`calls/${place}`);
    await shown.getByText(`Not shown: it ${note}.`).waitFor();
  }
  await view("calls/3");
  await shown.getByText("more characters").waitFor();
  expect((await shown.locator("pre").first().textContent())?.length).toBeLessThan(5_000);
  await view("calls/4");
  await shown.getByText("Not shown: it may contain secrets").waitFor();
  expect(await page.content()).not.toContain("hunter2-nowhere");
});
