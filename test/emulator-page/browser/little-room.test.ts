import type { Page } from "playwright-core";
import { expect } from "vitest";
import { callbackServer } from "../../emulator-runtime/callback-server.js";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { messageTo, sampleSnapshot, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const first = "70000000-0000-4000-8000-000000000000";
const conversation = "70000000-0000-4000-8000-000000000001";

/** What is to be seen of each view. */
const parts = {
  objects: ".graph",
  conversations: ".all .scroller",
  [`conversations/${conversation}`]: ".log",
  calls: ".entries .scroller",
  deliveries: ".entries .scroller",
} as const;

inBrowser("at 400 % every view can be read and scrolled", async (started) => {
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 350, height: 225 } },
  });
  await service.call("GET", "/channels");
  const message = { type: { value: "text" }, content: { text: "Hi" } };
  const sent = { ...message, conversation: { id: conversation }, sender: { type: "custom_agent" } };
  await service.call("POST", "/conversations/messages", { messages: { message: [sent] } });
  for (const [name, part] of Object.entries(parts)) {
    await view(name);
    await page.locator(part).waitFor();
    await page.locator(part).scrollIntoViewIfNeeded();
    const box = await page.locator(part).boundingBox();
    expect(box?.height, name).toBeGreaterThan(110);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, name).toBeLessThanOrEqual(0);
  }
});

/** Texts of cells that are cut off. */
const cutCells = (page: Page, cells: string): Promise<readonly string[]> =>
  page
    .locator(cells)
    .filter({ visible: true })
    .evaluateAll((all) =>
      all.flatMap((cell) => (cell.scrollWidth > cell.clientWidth ? [cell.textContent ?? ""] : [])),
    );

inBrowser("times and outcomes are whole at 400 pixels", async (started) => {
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await service.call("GET", "/channels");
  await view("calls");
  await page.getByText("/channels").waitFor();
  expect(await cutCells(page, ".rows .row > *:not(.wide)")).toEqual([]);
});

inBrowser("at 400 pixels a callback shows the end of its URL", async (started) => {
  const callback = await callbackServer();
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    callback: `${callback.url}/callbacks/bot`,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await service.call("POST", "/conversations/messages", messageTo(first));
  await view("deliveries");
  const link = page.getByRole("link", { name: "/callbacks/bot" });
  await link.waitFor();
  // Where the text ends, seen from the window: within the cell, although its start is not.
  const [cell, text] = await Promise.all([link.boundingBox(), link.locator("bdi").boundingBox()]);
  const [start = 0, width = 0] = [cell?.x, cell?.width];
  expect(text?.x ?? start).toBeLessThan(start);
  expect((text?.x ?? 0) + (text?.width ?? 0)).toBeLessThanOrEqual(start + width + 1);
});

inBrowser("at 400 pixels no long path pushes a button out of sight", async (started) => {
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await service.call("DELETE", "/channels/40000000-0000-4000-8000-000000000000");
  await view("objects");
  for (const each of [
    page.getByText("Last refused"),
    page.getByRole("button", { name: /^Reset/ }),
  ]) {
    await each.waitFor();
    const { x = 0, width = 400 } = (await each.boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(400 - 14);
  }
});

inBrowser("at 900 pixels calls and callbacks are whole", async (started) => {
  const callback = await callbackServer();
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    callback: `${callback.url}/callbacks/1`,
    browser: { viewport: { width: 900, height: 900 } },
  });
  await service.call("POST", "/conversations/messages", messageTo(first));
  for (const [name, text] of [
    ["calls", "/conversations/messages"],
    ["deliveries", "/callbacks/1"],
  ] as const) {
    await view(name);
    await page.locator(".rows .wide").getByText(text).first().waitFor();
    expect(await cutCells(page, ".rows .wide"), name).toEqual([]);
  }
});

inBrowser("at 400 pixels what is chosen is in sight, above what is said of it", async (started) => {
  const { page, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await view("objects");
  const button = page.getByRole("button", { name: /^returns-app/ });
  await button.click();
  const details = page.getByRole("complementary", { name: "Chosen object" });
  await details.waitFor();
  const hidden = async (): Promise<boolean> => {
    const [card, panel] = await Promise.all([button.boundingBox(), details.boundingBox()]);
    return !card || !panel || card.y + card.height > panel.y;
  };
  await expect.poll(hidden).toBe(false);
});

inBrowser("the graph is drawn where there was more to scroll through before", async (started) => {
  const { page, view } = await openPage(started, {
    sample: { ...smallAccount, applications: 40 },
    browser: { viewport: { width: 1000, height: 500 } },
  });
  await view("objects/authentications/10000000-0000-4000-8000-000000000000");
  await page.getByRole("link", { name: "Close" }).waitFor();
  await page.locator(".stacked").waitFor();
  await page.locator(".graph").evaluate((graph) => graph.scrollTo(0, graph.scrollHeight));
  await page.getByRole("button", { name: /^returns-account/ }).waitFor();
  await page.getByRole("link", { name: "Close" }).click();
  await page.locator(".stacked").waitFor({ state: "detached" });
  await page.locator(".lines path").first().waitFor({ state: "attached" });
});

inBrowser("at 400 pixels the account of a new conversation has a row", async (started) => {
  const { page, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await view("conversations/new");
  const widthOf = async (label: string): Promise<number | undefined> =>
    (await page.getByLabel(label, { exact: true }).boundingBox())?.width;
  expect(await widthOf("Account address")).toBe(await widthOf("Text"));
});

inBrowser("what is chosen can be seen where the system decides on colours", async (started) => {
  const { page, view } = await openPage(started, {
    sample: smallAccount,
    browser: { forcedColors: "active" },
  });
  await view(`conversations/${conversation}`);
  await page.locator(".item a[aria-current]").waitFor();
  const style = (selector: string, member: "outlineStyle" | "borderTopWidth") =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], member);
  for (const selector of [".tabs a", ".item a"]) {
    expect(await style(`${selector}[aria-current]`, "outlineStyle")).toBe("solid");
    expect(await style(`${selector}:not([aria-current])`, "outlineStyle")).toBe("none");
  }
  expect(await style(".speech", "borderTopWidth")).not.toBe("0px");
});

inBrowser("texts of any length and direction are shown, and the page goes on", async (started) => {
  const { page, service, view } = await openPage(started);
  const nameOf = (name: string): string => (name.startsWith("Ada") ? "A".repeat(100_000) : name);
  const snapshot = JSON.stringify(sampleSnapshot(smallAccount, { nameOf }));
  const odd = JSON.parse(snapshot, (name, value: unknown) => {
    if (name === "text") return `שלום\u202E${"x\u200B".repeat(50_000)}`;
    // All messages have one id.
    if (name === "body" && typeof value === "object") return { ...value, id: "same" };
    return value;
  });
  const reply = await service.control("PUT", "/snapshot", odd);
  expect(reply.text).toBe("");
  await view(`conversations/${conversation}`);
  const lines = page.getByRole("log").locator("li.speech");
  await expect.poll(() => lines.count()).toBe(6);
  const text = lines.locator(".text").first();
  expect(await text.evaluate((shown) => getComputedStyle(shown).direction)).toBe("rtl");
  expect((await text.textContent())?.length).toBeLessThan(5_000);
  await lines.getByText("more characters").first().click();
  expect(await page.locator("#facts").textContent()).not.toBe("");
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider).toBeLessThanOrEqual(0);
  await view("conversations");
  await page.getByRole("link", { name: /^A+…/ }).first().waitFor();
});
