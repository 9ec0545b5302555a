import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { kindOf, running } from "../../emulator/running.js";
import { callbackServer } from "../../emulator-runtime/callback-server.js";
import { lowPort } from "../../support/low-port.js";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { messageTo, sampleSnapshot, sendAsset, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const first = "70000000-0000-4000-8000-000000000000";
const second = "70000000-0000-4000-8000-000000000001";

const tab = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name: new RegExp(`^${name}`) });
const chosen = (page: Page, noun: string) =>
  page.getByRole("complementary", { name: `Chosen ${noun}` });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim());
const composer = (page: Page) => page.getByRole("form", { name: "Send a message" });
const textField = (page: Page) => composer(page).getByRole("textbox");
const listed = (page: Page, name: string) => page.locator("table").getByRole("link", { name });
const search = (page: Page) => page.getByRole("searchbox");

describe("objects", () => {
  inBrowser("stand in setup order, and more appear while they are looked at", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    await page.getByRole("row", { name: "client application orders-app callbacks 3" }).waitFor();
    const kinds = await page.locator("tbody .kind").allTextContents();
    expect([...new Set(kinds.map((text) => text.trim()))]).toEqual([
      "authentication",
      "client application",
      "participant",
      "channel",
      "orchestration",
      "account",
    ]);
    await page.getByRole("row", { name: /billing-account .* not active/ }).waitFor();
    await service.make(kindOf("Channel"), { type: "custom.new-one" });
    await page.getByRole("row", { name: "channel custom.new-one – 0" }).waitFor();
    expect(await tab(page, "Objects").textContent()).toBe("Objects15");
    await search(page).fill("orders");
    await page.getByText("5 of 15 objects").waitFor();
    expect(await listed(page, "returns-app").count()).toBe(0);
  });

  inBrowser("are walked through by keys, show what is near, and no secret", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    await search(page).focus();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("callbacks");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("returns-app");
    await page.keyboard.press("End");
    expect(await focused(page)).toBe("billing-account");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    const details = chosen(page, "object");
    await details.getByText('"username": "hub"').waitFor();
    expect(await details.textContent()).toContain('"password": "********"');
    expect(await page.content()).not.toContain("hunter2-hidden");
    await details.getByText("Used by 4 objects").waitFor();
    await details.getByRole("link", { name: "returns-app" }).click();
    await details.getByRole("heading", { name: "returns-app" }).waitFor();
    await details.getByText("roles[0].authentication.id").waitFor();
    // What comes in moves no focus, and closing leads back to the row.
    await details.getByRole("link", { name: "Close" }).focus();
    await service.make(kindOf("Channel"), { type: "custom.new-one" });
    await listed(page, "custom.new-one").waitFor();
    expect(await focused(page)).toBe("Close");
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toBe("returns-app");
    await details.waitFor({ state: "detached" });
  });
});

describe("conversations", () => {
  inBrowser("grow while they are looked at, with what became of each delivery", async (started) => {
    const callback = await callbackServer();
    const options = { sample: smallAccount, callback: callback.url };
    const { page, service, view } = await openPage(started, options);
    await view(`conversations/${second}`);
    const log = page.getByRole("log", { name: "Messages" });
    await log.getByText("Which order is it?").first().waitFor();
    const said = messageTo(second, "platform_agent", "A word from elsewhere");
    expect((await service.call("POST", "/conversations/messages", said)).status).toBe(202);
    await log.getByText("A word from elsewhere").waitFor();
    await log.locator("li").last().getByText("delivered").waitFor();
    await page.getByText("with an agent ·").waitFor();
  });

  inBrowser("take messages from each sender, of the types that it may send", async (started) => {
    const { page, service, view } = await openPage(started, {
      sample: smallAccount,
      mayFail: /503/,
    });
    await view(`conversations/${second}`);
    const types = composer(page).getByLabel("Message type");
    expect(await types.locator("option").allTextContents()).not.toContain("agent.join");
    await composer(page).getByLabel("Sender").selectOption("custom_agent");
    expect(await types.locator("option").allTextContents()).toContain("agent.join");
    await textField(page).fill("I am here.");
    await textField(page).press("Enter");
    await page.getByRole("log").getByText("I am here.").waitFor();
    expect((await service.emulator.control.log()).at(-1)).toMatchObject({
      template: "/conversations/messages",
      status: 202,
      clientId: "page",
    });
    await types.selectOption("richMessage.listpicker");
    await textField(page).fill('{"listPicker": {"title": "Which one?"}}');
    await composer(page).getByRole("button", { name: "Send" }).click();
    await page.getByRole("log").getByText('"title": "Which one?"').waitFor();
    await types.selectOption("text");
    await composer(page).getByRole("button", { name: "Send" }).click();
    await composer(page).getByText("Enter some text.").waitFor();
    const on = "POST /conversations/messages";
    await service.emulator.control.faults({ on, kind: "status", status: 503 });
    await textField(page).fill("Is anybody there?");
    await textField(page).press("Enter");
    await composer(page).getByText("503 (503-100): A fault produced").waitFor();
    expect(await textField(page).inputValue()).toBe("Is anybody there?");
  });

  inBrowser("are started by a customer, found, and ended", async (started) => {
    const { page, view } = await openPage(started, { sample: smallAccount });
    await view("conversations");
    expect(await page.locator("tbody .wide").allTextContents()).toEqual(
      ["Ada Example 2", "Ada Example 1", "Ada Example 0"].map((name) =>
        expect.stringContaining(name),
      ),
    );
    await page.getByRole("link", { name: "Start a conversation" }).click();
    const start = page.getByRole("form", { name: "Start a conversation" });
    await start.getByRole("textbox", { name: "Customer" }).fill("Grace");
    await start.getByRole("textbox", { name: "Text" }).fill("Good morning");
    await start.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Grace" }).waitFor();
    await page.getByRole("log").getByText("Good morning").waitFor();
    await composer(page).getByLabel("Message type").selectOption("conversation.end");
    await composer(page).getByRole("button", { name: "Send" }).click();
    await page.getByText("no more messages can be sent").waitFor();
    expect(await composer(page).count()).toBe(0);
    await search(page).fill("ended");
    await page.getByText("2 of 4 conversations").waitFor();
  });

  inBrowser("have links to their assets, and name where other files are", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await sendAsset(service, "orders.csv", "a,b", [
      { name: "invoice.pdf", size: 2, url: "https://files.example.com/1" },
      { name: "harm", size: 1, url: "javascript:window.harmed=1" },
    ]);
    await view(`conversations/${second}`);
    const files = page.getByRole("list", { name: "Attachments" });
    await files.waitFor();
    expect(await files.locator("li").allTextContents()).toEqual([
      "orders.csv (3 bytes)",
      "invoice.pdf (2 bytes) on files.example.com",
      "harm (1 bytes)",
    ]);
    const downloading = page.waitForEvent("download");
    await files.getByRole("link").click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("orders.csv");
    expect(readFileSync(await download.path(), "utf8")).toBe("a,b");
  });
});

describe("calls", () => {
  inBrowser("appear at the top, are searched, and lead on by keys", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    for (const path of ["/channels", "/accounts", "/accounts/nothing-there"])
      await service.call("GET", path);
    await view("calls");
    const paths = () => page.locator("tbody .wide bdi").allTextContents();
    await page.getByText("/accounts/nothing-there").first().waitFor();
    expect(await paths()).toEqual(["/accounts/nothing-there", "/accounts", "/channels"]);
    await search(page).fill("refused");
    await page.getByText("1 of 3 calls").waitFor();
    expect(await page.locator("tbody .reason").textContent()).toContain(
      "404-101 There is no account with this ID.",
    );
    await search(page).fill("");
    await search(page).press("Tab");
    expect(await focused(page)).toBe("/accounts/nothing-there");
    await page.keyboard.press("End");
    expect(await focused(page)).toBe("/channels");
    await page.keyboard.press("ArrowUp");
    // What comes in does not move the focus.
    await service.call("GET", "/participants");
    await page.getByRole("link", { name: "/participants" }).waitFor();
    expect(await focused(page)).toBe("/accounts");
    await page.keyboard.press("Enter");
    await chosen(page, "call").getByRole("heading", { name: "GET /accounts" }).waitFor();
    await chosen(page, "call").getByRole("link", { name: "Close" }).click();
    await expect.poll(() => focused(page)).toBe("/accounts");
  });

  inBrowser("that were refused say why, two clicks after the page was opened", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    expect(await page.getByText("Last refused").count()).toBe(0);
    await service.call("POST", "/authentications", {
      name: "orders-callback",
      type: "basic",
      basicAuth: { username: "hub", pasword: "hunter2-sent" },
    });
    await tab(page, "Calls").click();
    await page.getByRole("row", { name: /POST \/authentications/ }).click();
    const shown = chosen(page, "call");
    await shown.getByText("400-143 basicAuth.password: a required attribute is missing.").waitFor();
    // What was sent, but for what may be the secret in the wrong place.
    await shown.getByText('"pasword": "********"').waitFor();
    await shown.getByText('"code": "400-143"').waitFor();
    expect(await page.content()).not.toContain("hunter2-sent");
    await tab(page, "Rates").click();
    await service.call("DELETE", "/channels/40000000-0000-4000-8000-000000000000");
    const wrong = service.credentials({ client_secret: "hunter2-guess" });
    await page.getByRole("link", { name: /^Last of 2 refused: 400 DELETE/ }).click();
    await shown.getByText("The channel is in use and cannot be deleted.").first().waitFor();
    await service.form(service.emulator.tokenUrl, wrong);
    await page.getByRole("link", { name: "Last of 3 refused: 401 POST /oauth/token" }).click();
    await shown.getByText("invalid_client").first().waitFor();
    expect(await page.content()).not.toContain("hunter2-guess");
  });

  inBrowser(
    "say which fault or rate they met, beside the faults and the rates",
    async (started) => {
      const { page, service, view } = await openPage(started, {
        ...{ sample: smallAccount, plan: "basic", clock: "manual" },
      });
      const { control } = service.emulator;
      await control.faults({ on: "GET /accounts", kind: "status", status: 503, times: 2 });
      await control.switches({ unknownReference: "accept" });
      await view("faults");
      await page.getByRole("row", { name: "GET /accounts status 2 0 503" }).waitFor();
      await page.getByRole("row", { name: /^unknownReference accept Whether/ }).waitFor();
      for (const path of ["/channels", "/channels", "/channels", "/accounts"])
        await service.call("GET", path);
      await page.getByRole("row", { name: "GET /accounts status 1 0 503" }).waitFor();
      await view("calls/2");
      await chosen(page, "call").getByText("429-001 Too many requests.").waitFor();
      await tab(page, "Rates").click();
      await page.getByRole("row", { name: "GET /channels 0 of 2 0.5/s 2 1" }).waitFor();
      await page.getByRole("group", { name: "Advance the clock" }).getByText("+1 min").click();
      await page.getByRole("row", { name: "GET /channels 2 of 2 0.5/s 2 1" }).waitFor();
      await view("calls/3");
      await chosen(page, "call").getByText("A fault was requested: status.").waitFor();
    },
  );

  inBrowser("lead from a conversation to its deliveries, and back", async (started) => {
    const callback = await callbackServer();
    const options = { sample: smallAccount, callback: callback.url };
    const { page, service, view } = await openPage(started, options);
    await service.call("POST", "/conversations/messages", messageTo(first));
    await view(`conversations/${first}`);
    await page.getByRole("log").getByText("delivered").click();
    await chosen(page, "attempt").getByText("Returned 200").waitFor();
    await search(page).fill("nothing like it");
    await page.getByText("0 of 1 attempt").waitFor();
    await search(page).fill(first);
    await page.getByText("1 attempt", { exact: true }).waitFor();
    await chosen(page, "attempt").getByRole("link", { name: "The conversation" }).click();
    await page.getByRole("heading", { name: "Ada Example 0" }).waitFor();
  });
});

inBrowser(
  "a message that no callback takes is one click away, with the next step",
  async (started) => {
    const callback = await callbackServer();
    const { page, service, view } = await openPage(started, {
      ...{ sample: smallAccount, callback: callback.url, clock: "manual" },
    });
    await service.emulator.control.switches({ deliveryRetries: 1 });
    await view("deliveries");
    await page.getByText("There is nothing to show.").waitFor();
    callback.answer = (_received, response) => void response.writeHead(401).end();
    await service.call("POST", "/conversations/messages", messageTo(first));
    const notice = page.getByRole("link", {
      name: /^Last undelivered: text\. The service could not log in/,
    });
    await notice.click();
    const attempt = chosen(page, "attempt");
    await attempt.getByText("The service could not log in to the callback.").waitFor();
    await attempt.getByText("Returned 401").waitFor();
    await attempt.getByText("The service will try again. Compare the role's").waitFor();
    // After a retry none is left.
    await page.getByRole("button", { name: "+1 s" }).click();
    await attempt.getByText("No attempt is left.").waitFor();
    await notice.click();
    await attempt.getByText("attempt 2").waitFor();
    // An attempt that a later one made up for says so, and asks for nothing.
    callback.answer = (_received, response) => void response.writeHead(503).end();
    await service.call("POST", "/conversations/messages", messageTo(first));
    await page.getByRole("link", { name: "Last of 2 undelivered: text. The bot refused" }).click();
    await attempt.getByText("Check the callback's path").waitFor();
    callback.answer = (_received, response) => void response.writeHead(200).end();
    await page.getByRole("button", { name: "+1 s" }).click();
    await attempt.getByText("Attempt 2 delivered the message.").waitFor();
    expect(await attempt.getByText("Check the callback's path").count()).toBe(0);
    await notice.waitFor();
  },
);

describe("the page as a whole", () => {
  inBrowser("asks before it resets the emulator, also for other pages", async (started) => {
    const { page, origin, view } = await openPage(started, {
      ...{ sample: smallAccount, mayFail: /Remove all objects/ },
    });
    const other = await page.context().newPage();
    await other.goto(`${origin}/#conversations/${second}`);
    await other.getByRole("heading", { name: "Ada Example 1" }).waitFor();
    await view("objects");
    await page.getByRole("button", { name: "Reset…" }).click();
    await listed(page, "orders-app").waitFor();
    page.removeAllListeners("dialog").once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByText("No objects yet.").waitFor();
    await other.bringToFront();
    await other.getByText("No such conversation").waitFor();
  });

  inBrowser("asks for the secret of control, where there is one", async (started) => {
    const { page, origin } = await openPage(started, {
      controlSecret: "a-long-enough-secret",
      mayFail: /401/,
    });
    await page.goto(`${origin}/`);
    await page.getByLabel(/control secret/).fill("another-secret-of-mine");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("That is not this emulator's secret").waitFor();
    await page.getByLabel(/control secret/).fill("a-long-enough-secret");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("No objects yet.").waitFor();
    expect(page.url()).not.toContain("secret");
  });

  inBrowser("follows the emulator that comes back, with other words", async (started) => {
    const opened = await openPage(started, {
      ...{ sample: smallAccount, mayFail: /ERR_/ },
      port: await lowPort(),
    });
    const { page, service, origin, view } = opened;
    await view(`conversations/${second}`);
    await composer(page).waitFor();
    await service.emulator.close();
    await page.getByText("The emulator is not responding.").waitFor();
    const other = await running({ clock: "real", port: Number(new URL(origin).port) });
    const nameOf = (name: string): string => `Changed: ${name}`;
    await other.control("PUT", "/snapshot", sampleSnapshot(smallAccount, { nameOf }));
    await other.control("PUT", "/switches", { platformName: "acme" });
    const senders = composer(page).getByLabel("Sender").locator("option");
    await expect.poll(() => senders.allTextContents()).toContain("acme_agent");
    await page.getByText("The emulator is not responding.").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Changed: Ada Example 1" }).waitFor();
    await page.getByRole("log").getByText("Changed: Which order is it?").first().waitFor();
  });
});
