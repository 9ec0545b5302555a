import { expect } from "vitest";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { sampleSnapshot, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

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

inBrowser("times and outcomes are whole at 400 pixels", async (started) => {
  const { page, service, view } = await openPage(started, {
    sample: smallAccount,
    browser: { viewport: { width: 400, height: 850 } },
  });
  await service.call("GET", "/channels");
  await view("calls");
  const cut = page
    .locator(".rows .row > *:not(.wide)")
    .filter({ visible: true })
    .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
  expect(await cut).toBe(0);
});

inBrowser("what is chosen can be told where the system decides on colours", async (started) => {
  const { page, view } = await openPage(started, {
    sample: smallAccount,
    browser: { forcedColors: "active" },
  });
  await view(`conversations/${conversation}`);
  await page.locator(".item a[aria-current]").waitFor();
  const style = (
    selector: string,
    member: "borderBottomColor" | "outlineStyle" | "borderTopWidth",
  ) =>
    page
      .locator(selector)
      .first()
      .evaluate((element, name) => getComputedStyle(element)[name], member);
  const tabs = [".tabs a[aria-current]", ".tabs a:not([aria-current])"];
  const [current, other] = await Promise.all(tabs.map((tab) => style(tab, "borderBottomColor")));
  expect(current).not.toBe(other);
  expect(await style(".item a[aria-current]", "outlineStyle")).toBe("solid");
  expect(await style(".item a:not([aria-current])", "outlineStyle")).toBe("none");
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
