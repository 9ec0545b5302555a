import { expect } from "vitest";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { hugeAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

/** Generous: the machine may be busy. On an idle one every view opens in a tenth of it. */
const mostMs = 2_500;
/** However much there is, so many elements and no more. */
const mostElements = 2_500;

inBrowser(
  "the page stays quick with 1,000 objects, 10,000 calls and 500 conversations",
  async (browser) => {
    const { page, service, view } = await openPage(browser, { sample: hugeAccount });
    for (let call = 0; call < 10_000; call += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, place) =>
          service.call("GET", `/nothing/${call + place}`, undefined, { token: null }),
        ),
      );
    const timed = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const started = performance.now();
      await work();
      expect(performance.now() - started, what).toBeLessThan(mostMs);
      expect(await page.locator("*").count(), what).toBeLessThan(mostElements);
    };
    const badge = (name: string) => page.getByRole("navigation").getByRole("link", { name });
    await timed("objects", async () => {
      await view("objects");
      await page.getByRole("button", { name: /^orders-app/ }).waitFor();
    });
    expect(await badge("Objects").textContent()).toBe("Objects1,000");
    expect(await badge("Conversations").textContent()).toBe("Conversations500");
    expect(await badge("Calls").textContent()).toBe("Calls10,000");
    await timed("the end of the account", async () => {
      await page.locator(".graph").evaluate((graph) => graph.scrollTo(0, graph.scrollHeight));
      await page.getByRole("button", { name: /^support-38-app/ }).waitFor();
    });
    await timed("an object that many refer to", async () => {
      await page.goto(
        `${page.url().split("#")[0]}#objects/authentications/10000000-0000-4000-8000-000000000000`,
      );
      await page.getByText("Used by 300 objects").waitFor();
    });
    await timed("calls", async () => {
      await badge("Calls").click();
      await page.getByText("/nothing/9999").waitFor();
    });
    await timed("a filter", async () => {
      await page.getByLabel("Path, client or reason").fill("/nothing/777");
      await page.getByText("11 of 10,000").waitFor();
    });
    await timed("the oldest call", async () => {
      await page.getByLabel("Path, client or reason").fill("");
      await page.getByRole("table").evaluate((table) => table.scrollTo(0, table.scrollHeight));
      await page.getByText("/nothing/0", { exact: true }).waitFor();
    });
    await timed("conversations", async () => {
      await badge("Conversations").click();
      await page.getByRole("link", { name: /Ada Example 499/ }).waitFor();
    });
    await timed("one of them", async () => {
      await page.getByLabel("Search").fill("Example 123");
      await page.getByRole("link", { name: /Ada Example 123/ }).click();
      await page.getByRole("log").locator("li").nth(39).waitFor();
    });
  },
);
