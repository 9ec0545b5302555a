import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { describe, expect } from "vitest";
import { callbackServer } from "../../emulator-runtime/callback-server.js";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import {
  hugeAccount,
  messageTo,
  sampleSnapshot,
  sendAsset,
  smallAccount,
} from "../support/sample-account.js";

const inBrowser = browserTests();

const first = "70000000-0000-4000-8000-000000000000";
const second = "70000000-0000-4000-8000-000000000001";

const axe = readFileSync(createRequire(__filename).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The first of what axe-core finds, each in a line. */
const findings = async (page: Page): Promise<readonly string[]> => {
  // Evaluated by the debugger, so that the page's own policy stays as it is.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
  return found.slice(0, 5);
};

/** By how many pixels the page is wider than its window. */
const excessOf = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));

const views = [
  "objects",
  "objects/clientapplications/20000000-0000-4000-8000-000000000000",
  "conversations",
  "conversations/new",
  `conversations/${first}`,
  `conversations/${second}`,
  "conversations/70000000-0000-4000-8000-000000000002",
  "calls",
  "calls/5",
  "deliveries",
  "deliveries/0",
  "rates",
  "faults",
];

const expectAccessible = async (
  browser: Browser,
  colorScheme: "light" | "dark",
  width: number,
): Promise<void> => {
  const { page, service, view } = await openPage(browser, {
    ...{ sample: smallAccount, plan: "developer" },
    browser: { colorScheme, viewport: { width, height: 900 } },
  });
  for (let call = 0; call < 5; call += 1) await service.call("GET", "/channels");
  await service.call("POST", "/authentications", { name: "n", basicAuth: { password: "p" } });
  await service.emulator.control.faults({ on: "GET /channels", kind: "status", status: 503 });
  await sendAsset(service, "orders.csv", "a,b");
  const [said] = messageTo(first, "custom_agent").messages.message;
  const content = { json: '{"title":"Which one?","options":["a","b"]}' };
  const rich = { ...said, type: { value: "richMessage.listpicker" }, content };
  await service.call("POST", "/conversations/messages", { messages: { message: [rich] } });
  for (const name of views) {
    await view(name);
    await page.waitForTimeout(600);
    expect(await findings(page), `${colorScheme} at ${width} pixels: ${name}`).toEqual([]);
    expect(await excessOf(page), `${colorScheme} at ${width} pixels: ${name}`).toBe(0);
  }
};

describe("for people who see, type or read in other ways", () => {
  // Side by side: most of the time each waits for what the page shows next.
  inBrowser("axe-core finds nothing in light and in dark, at 390 and at 1400 pixels", (browser) =>
    Promise.all([
      expectAccessible(browser, "light", 390),
      expectAccessible(browser, "light", 1400),
      expectAccessible(browser, "dark", 390),
      expectAccessible(browser, "dark", 1400),
    ]).then(() => undefined),
  );

  inBrowser(
    "at 390 pixels texts that matter are whole, and what is chosen is below",
    async (started) => {
      const callback = await callbackServer();
      const { page, service, view } = await openPage(started, {
        ...{ sample: smallAccount, callback: `${callback.url}/callbacks/bot` },
        browser: { viewport: { width: 390, height: 850 } },
      });
      await service.call("DELETE", "/channels/40000000-0000-4000-8000-000000000000");
      await service.call("POST", "/conversations/messages", messageTo(first));
      await view("calls");
      await page.getByText("/conversations/messages").waitFor();
      const cells = page.locator("td:not(.wide)").filter({ visible: true });
      const cut = await cells.evaluateAll((all) =>
        all.flatMap((cell) => (cell.scrollWidth > cell.clientWidth ? [cell.textContent] : [])),
      );
      expect(cut).toEqual([]);
      const end = (box: { x: number; width: number } | null) => (box?.x ?? 0) + (box?.width ?? 0);
      // No long path pushes what stands above out of sight.
      for (const each of [
        page.getByText("Last refused"),
        page.getByRole("button", { name: "Reset…" }),
      ])
        expect(end(await each.boundingBox())).toBeLessThanOrEqual(390 - 14);
      await view("objects");
      await page.getByRole("link", { name: "orders-app" }).click();
      const panel = page.getByRole("complementary", { name: "Chosen object" });
      expect((await panel.boundingBox())?.width).toBe(390);
    },
  );
});

const hostile = [
  '<img src=x onerror="window.harmed=1">',
  "<script>window.harmed=1</script>",
  "\u202Egnp.exe \u0000\uFFFF \u{1F468}\u200D\u{1F469}\u200D\u{1F467}",
  "__proto__",
  "\u2069\u2069\u202Egnp.exe",
];

const hostileViews = [...views.slice(0, 8), "calls/0", "%3Cimg%20src=x%3E", "objects/%E0%A4%A/.."];

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

describe("whatever texts it shows", () => {
  for (const text of hostile)
    inBrowser(
      `${JSON.stringify(text)} as every name and message is a text, and no more`,
      async (browser) => {
        const nameOf = (name: string): string => `${text} ${name}`;
        const { page, service, view } = await openPage(browser, { sample: smallAccount, nameOf });
        await service.call("GET", `/channels/${encodeURIComponent(text)}`);
        await service.call("POST", "/channels", { type: text, [text]: [text] });
        const fault = { on: "GET /channels", kind: "status", status: 503, body: text } as const;
        await service.emulator.control.faults(fault);
        for (const name of hostileViews) {
          await view(name);
          expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
        }
        await view(`conversations/${second}`);
        const log = page.getByRole("log");
        await log.locator("li").first().waitFor();
        expect(await page.evaluate(textsOutOfBounds)).toEqual([]);
        expect(await log.textContent()).toContain(text);
        expect(await page.evaluate(() => "harmed" in window)).toBe(false);
        expect(await page.locator("main img, main script").count()).toBe(0);
      },
    );

  inBrowser("texts of any length and direction leave the page as it is", async (started) => {
    const { page, service, view } = await openPage(started);
    const nameOf = (name: string): string => (name.startsWith("Ada") ? "A".repeat(100_000) : name);
    const snapshot = JSON.stringify(sampleSnapshot(smallAccount, { nameOf }));
    const odd = JSON.parse(snapshot, (name, value: unknown) => {
      if (name === "text") return `שלום\u202E${"x\u200B".repeat(50_000)}`;
      // All messages have one id.
      return name === "body" && typeof value === "object" ? { ...value, id: "same" } : value;
    });
    expect((await service.control("PUT", "/snapshot", odd)).text).toBe("");
    await view(`conversations/${second}`);
    const lines = page.getByRole("log").locator("li.speech");
    await expect.poll(() => lines.count()).toBe(6);
    const text = lines.locator(".text").first();
    expect(await text.evaluate((shown) => getComputedStyle(shown).direction)).toBe("rtl");
    expect(await excessOf(page)).toBe(0);
    await page.getByRole("heading", { name: /^A{200}…$/ }).waitFor();
  });

  inBrowser("bodies are shown as far as they can be, whatever they are", async (browser) => {
    const { page, service, view } = await openPage(browser, { sample: smallAccount });
    const raw = (body: string | Buffer) =>
      service.call("POST", "/channels", undefined, { raw: body });
    await raw(Buffer.from([0, 1, 2, 255, 254, 0]));
    await raw(JSON.stringify({ type: "x".repeat(1_000_000) }));
    await raw(`${"[".repeat(200)}${"]".repeat(200)}`);
    await service.call("POST", "/nowhere", { password: "hunter2-nowhere" });
    const shown = page.getByRole("complementary", { name: "Chosen call" });
    for (const path of ["/channels", "/channels", "/channels", "/nowhere"].entries()) {
      await view(`calls/${path[0]}`);
      await shown.getByRole("heading", { name: `POST ${path[1]}` }).waitFor();
      await shown.getByText("Not shown: it is large, is not JSON").waitFor();
    }
    expect(await page.content()).not.toContain("hunter2-nowhere");
  });
});

/** Generous: the machine may be busy. On an idle one every view opens in a twentieth of it. */
const mostMs = 6_000;

inBrowser(
  "it stays quick with 1,000 objects, 1,000 calls and 500 conversations",
  async (browser) => {
    const { page, service, view } = await openPage(browser, { sample: hugeAccount });
    for (let call = 0; call < 1_000; call += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, place) => service.call("GET", `/nothing/${call + place}`)),
      );
    const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const started = performance.now();
      await work();
      expect(performance.now() - started, what).toBeLessThan(mostMs);
    };
    const link = (name: RegExp) => page.getByRole("link", { name });
    await timed("objects", async () => {
      await view("objects");
      await link(/^orders-app/).waitFor();
    });
    await timed("an object that many refer to", async () => {
      await link(/^callbacks/).click();
      await page.getByText("Used by 300 objects").waitFor();
    });
    await timed("calls", async () => {
      await link(/^Calls/).click();
      await page.getByText("/nothing/999").first().waitFor();
      expect(await page.locator("tbody tr").count()).toBe(200);
      await page.getByRole("button", { name: "Show more (800 left)" }).click();
      await page.getByText("/nothing/601").first().waitFor();
    });
    await timed("a search", async () => {
      await page.getByRole("searchbox").fill("/nothing/777");
      await page.getByText("1 of 1,000 calls").waitFor();
    });
    await timed("conversations", async () => {
      await link(/^Conversations/).click();
      await link(/Ada Example 499/).waitFor();
    });
    await timed("one of them", async () => {
      await page.getByRole("searchbox").fill("Example 123");
      await link(/Ada Example 123/).click();
      await page.getByRole("log").locator("li").nth(39).waitFor();
    });
  },
);
