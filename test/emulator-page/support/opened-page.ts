import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { EmulatorOptions } from "../../../emulator/index.js";
import { running } from "../../emulator/running.js";
import { type SampleSize, sampleSnapshot } from "./sample-account.js";

interface OpenOptions extends EmulatorOptions {
  readonly sample?: SampleSize;
  readonly callback?: string;
  readonly nameOf?: (name: string) => string;
  readonly browser?: BrowserContextOptions;
  /** Texts of errors that the test brings about itself. */
  readonly mayFail?: RegExp;
}

/** Whatever the browser complains of, and whatever it asks of others, fails the test. */
const watched = (page: Page, origin: string, mayFail: RegExp | undefined): void => {
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => {
    if (!mayFail?.test(message)) problems.push(message);
  });
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !mayFail?.test(text)) problems.push(text);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`asked for ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    if (!mayFail?.test(dialog.message())) problems.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  onTestFinished(() => expect(problems).toEqual([]));
};

/** An emulator with a sample account, and its page in a browser; both end with the test. */
export const openPage = async (browser: Browser, options: OpenOptions = {}) => {
  const { sample, callback, nameOf, browser: contextOptions, mayFail, ...emulator } = options;
  const service = await running({ clock: "real", ...emulator });
  if (sample) {
    const more = { ...(callback ? { callback } : {}), ...(nameOf ? { nameOf } : {}) };
    const reply = await service.control("PUT", "/snapshot", sampleSnapshot(sample, more));
    expect(reply.text).toBe("");
  }
  const { origin } = new URL(service.emulator.baseUrl);
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    ...contextOptions,
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  watched(page, origin, mayFail);
  const view = async (name: string): Promise<void> => {
    await page.goto(`${origin}/#${name}`);
    await page.locator("main > *").first().waitFor({ state: "attached" });
  };
  return { service, page, origin, view };
};
