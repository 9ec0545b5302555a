import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { isObject } from "../../../provider/kernel/json.js";
import { running } from "../../emulator/running.js";
import { lowPort } from "../../support/low-port.js";
import { browserTests } from "../support/browser-tests.js";
import { type OpenedPage, openPage } from "../support/opened-page.js";
import { messageTo, sampleSnapshot, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const first = "70000000-0000-4000-8000-000000000000";
const second = "70000000-0000-4000-8000-000000000001";

const textOf = (page: Page) =>
  page.getByRole("form", { name: "Send a message" }).getByLabel("Text", { exact: true });

/** A message from elsewhere. */
const said = async ({ service }: OpenedPage, id: string, text: string): Promise<void> => {
  const body = messageTo(id, "customer", text);
  expect((await service.call("POST", "/conversations/messages", body)).status).toBe(202);
};

describe("an emulator that changes under the page", () => {
  inBrowser("may be another one at the same address, with other words", async (started) => {
    const opened = await openPage(started, {
      ...{ sample: smallAccount, mayFail: /ERR_/ },
      port: await lowPort(),
    });
    const { page, service, origin, view } = opened;
    await view(`conversations/${second}`);
    await service.emulator.close();
    await page.getByText("The emulator is not responding.").waitFor();
    const other = await running({ clock: "real", port: Number(new URL(origin).port) });
    await other.control("PUT", "/snapshot", sampleSnapshot(smallAccount));
    await other.control("PUT", "/switches", { platformName: "acme" });
    const sender = page.getByLabel("Sender", { exact: true });
    await expect.poll(() => sender.locator("option").allTextContents()).toContain("acme_agent");
    await page.getByText("The emulator is not responding.").waitFor({ state: "detached" });
    await said({ ...opened, service: other }, second, "From the new one");
    await page.getByRole("log").getByText("From the new one").waitFor();
  });

  inBrowser("may take another snapshot, with the same ids", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view(`conversations/${second}`);
    await page.getByRole("log").getByText("Which order is it?").first().waitFor();
    const nameOf = (name: string): string => `Changed: ${name}`;
    await service.control("PUT", "/snapshot", sampleSnapshot(smallAccount, { nameOf }));
    await page.getByRole("log").getByText("Changed: Which order is it?").first().waitFor();
    await page.getByRole("heading", { name: "Changed: Ada Example 1" }).waitFor();
  });

  inBrowser("is shown alike by two pages, whichever changes it", async (started) => {
    const one = await openPage(started, { sample: smallAccount, clock: "manual" });
    const other = await one.page.context().newPage();
    await one.view(`conversations/${second}`);
    await other.goto(`${one.origin}/#conversations/${second}`);
    await said(one, second, "For both");
    for (const page of [one.page, other]) await page.getByText("For both").waitFor();
    const time = await one.page.locator("#facts").textContent();
    await other.getByRole("button", { name: "+1 h" }).click();
    await expect.poll(() => one.page.locator("#facts").textContent()).not.toBe(time);
    await other.getByRole("button", { name: "Reset…" }).click();
    await other.getByRole("button", { name: "Remove everything" }).click();
    for (const page of [one.page, other]) await page.getByText("No such conversation").waitFor();
  });

  inBrowser("may say what the page cannot show, for a while", async (started) => {
    const mayFail = /Cannot read|not iterable/;
    const { page, view } = await openPage(started, { sample: smallAccount, mayFail });
    await view("objects");
    await page.route("**/control/page/changes**", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ json: { ...(await response.json()), conversations: null } });
    });
    await page.getByText("The page could not be updated").waitFor();
    await page.unroute("**/control/page/changes**");
    await page.getByText("The page could not be updated").waitFor({ state: "detached" });
  });
});

describe("what a person has begun", () => {
  inBrowser("stays with its conversation", async (started) => {
    const { page, view } = await openPage(started, { sample: smallAccount, mayFail: /400/ });
    await view(`conversations/${second}`);
    await page.getByText("JSON content").click();
    await page.getByLabel("Content as a JSON object").fill("[1]");
    await textOf(page).fill("For the second");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("must be a JSON object").waitFor();
    await page.getByRole("link", { name: /Ada Example 0/ }).click();
    await page.getByRole("heading", { name: "Ada Example 0" }).waitFor();
    expect(await textOf(page).inputValue()).toBe("");
    expect(await page.getByText("must be a JSON object").count()).toBe(0);
    await textOf(page).fill("For the first");
    await page.getByRole("link", { name: /Ada Example 1/ }).click();
    await page.getByRole("heading", { name: "Ada Example 1" }).waitFor();
    expect(await textOf(page).inputValue()).toBe("For the second");
    await page.getByRole("link", { name: /Ada Example 0/ }).click();
    await expect.poll(() => textOf(page).inputValue()).toBe("For the first");
  });

  inBrowser("stays while a message is on its way", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    const on = "POST /conversations/messages";
    await service.emulator.control.faults({ on, kind: "delay", ms: 700 });
    await view(`conversations/${first}`);
    await textOf(page).fill("The first");
    await textOf(page).press("Enter");
    await textOf(page).fill("The second");
    await page.getByRole("log").getByText("The first").waitFor();
    await page.getByRole("button", { name: "Send", disabled: false }).waitFor();
    expect(await textOf(page).inputValue()).toBe("The second");
  });

  inBrowser("is for the same account, whatever becomes of others", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("conversations/new");
    const account = page.getByLabel("Account address", { exact: true });
    await account.selectOption({ index: 1 });
    const chosen = () => account.locator("option:checked").textContent();
    const before = await chosen();
    await service.call("DELETE", "/accounts/60000000-0000-4000-8000-000000000000");
    await expect.poll(() => account.locator("option").count()).toBe(1);
    expect(await chosen()).toBe(before);
  });

  inBrowser("keeps the focus, and closing leads back to the object", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    await page.getByRole("button", { name: /^returns-app/ }).focus();
    await page.keyboard.press("Enter");
    const details = page.getByRole("complementary", { name: "Chosen object" });
    await details.getByRole("link", { name: "Close" }).focus();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    const other = await service.call("POST", "/participants", {
      name: "one-more",
      type: "custom_bot",
      application: { id: "20000000-0000-4000-8000-000000000000" },
    });
    expect(isObject(other.json) && other.status).toBe(201);
    await page.getByRole("button", { name: /^one-more/ }).waitFor();
    expect(await focused()).toBe("Close");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toContain("returns-app");
  });
});
