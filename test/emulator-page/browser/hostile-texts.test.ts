import { expect } from "vitest";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const hostile = [
  '<img src=x onerror="window.harmed=1">',
  "<script>window.harmed=1</script>",
  '"><svg onload=window.harmed=1>',
  "javascript:window.harmed=1//",
  "{{constructor.constructor('window.harmed=1')()}}",
  "\u202Egnp.exe \u0000\uFFFF \u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "__proto__",
];

const views = [
  "objects",
  "objects/clientapplications/20000000-0000-4000-8000-000000000000",
  "conversations/70000000-0000-4000-8000-000000000001",
  "conversations/new",
  "calls",
  "deliveries",
  "faults",
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
      for (const name of views) {
        await view(name);
        await page.waitForFunction(() => document.querySelector("main")?.childElementCount === 1);
        expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
      }
      await view("conversations/70000000-0000-4000-8000-000000000001");
      const log = page.getByRole("log");
      await log.locator("li").first().waitFor();
      expect(await log.textContent()).toContain(text);
      expect(await page.evaluate(() => "harmed" in window)).toBe(false);
      expect(await page.locator("main img, main script, main svg[onload]").count()).toBe(0);
    },
  );
