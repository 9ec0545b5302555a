import type { Browser } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { startBrowser } from "./chromium.js";

/** Time to fetch a browser, where there is none yet. */
const startTimeout = 300_000;

/**
 * Tests of a file in one browser, which starts with the first and ends with the last. They are
 * skipped, with a word on the error output, where none can be had.
 */
export const browserTests = () => {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await startBrowser();
  }, startTimeout);
  afterAll(() => browser?.close());
  return (name: string, work: (started: Browser) => Promise<void>): void =>
    test(name, { timeout: 300_000 }, async ({ skip }) => {
      if (!browser) return skip("no browser can be had");
      await work(browser);
    });
};
