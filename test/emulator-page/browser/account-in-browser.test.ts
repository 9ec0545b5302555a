import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { describe, expect } from "vitest";
import { kindOf } from "../../emulator/running.js";
import { callbackServer } from "../../emulator-runtime/callback-server.js";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import {
  hugeAccount,
  messageTo,
  type SampleSize,
  sendAsset,
  smallAccount,
} from "../support/sample-account.js";

const inBrowser = browserTests();

describe("the account", () => {
  inBrowser("is drawn in setup order, and grows while it is looked at", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    const kinds = page.locator(".kind .noun");
    expect(await kinds.allTextContents()).toEqual([
      "authentications",
      "client applications",
      "participants",
      "channels",
      "orchestrations",
      "accounts",
    ]);
    await page
      .getByRole("button", { name: /^orders-app client application uses callbacks/ })
      .waitFor();
    // However little of a name there is room for, it can be read.
    await page.getByTitle("orders-app", { exact: true }).waitFor();
    expect(await page.locator(".lines path").count()).toBeGreaterThan(10);
    await service.make(kindOf("Channel"), { type: "custom.new-one" });
    await page.getByRole("button", { name: /^custom\.new-one channel/ }).waitFor();
  });

  inBrowser("is walked through by keys, and hides secrets", async (started) => {
    const { page, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    await page.getByRole("button", { name: /^callbacks authentication/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    expect(await focused()).toContain("returns-appclient application");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    const details = page.getByRole("complementary", { name: "Chosen object" });
    await details.getByText('"username": "hub"').waitFor();
    expect(await details.textContent()).toContain('"password": "********"');
    expect(await page.content()).not.toContain("hunter2-hidden");
    await details.getByRole("link", { name: "returns-app" }).click();
    await details.getByRole("heading", { name: "returns-app" }).waitFor();
  });
});

/** A page that shows a conversation, whose messages reach a callback. */
const openConversation = async (started: Browser) => {
  const callback = await callbackServer();
  const opened = await openPage(started, { sample: smallAccount, callback: callback.url });
  await opened.view("conversations/70000000-0000-4000-8000-000000000001");
  return opened;
};

/** What is wrong with the graph as the browser draws it where it is scrolled to. */
const flaws = () => {
  const boxesOf = (selector: string) =>
    [...document.querySelectorAll(selector)].map((part) => ({
      name: part.textContent ?? "",
      box: part.getBoundingClientRect(),
    }));
  const cards = boxesOf(".node button");
  /** Whether a point is within a box that is made larger by so many pixels. */
  const isOn = (
    { x, y }: { readonly x: number; readonly y: number },
    { left, right, top, bottom }: DOMRect,
    more: number,
  ) => x > left - more && x < right + more && y > top - more && y < bottom + more;
  const top = Math.min(...cards.map(({ box }) => box.top));
  const bottom = Math.max(...cards.map(({ box }) => box.bottom));
  const lines = [...document.querySelectorAll<SVGPathElement>(".lines path")];
  const crossed = lines.flatMap((line) => {
    const matrix = line.getScreenCTM();
    if (!matrix) return ["a line that is not drawn"];
    const length = line.getTotalLength();
    const steps = Math.ceil(length / 16);
    const points = Array.from({ length: steps + 1 }, (_, step) =>
      line.getPointAtLength((length * step) / steps).matrixTransform(matrix),
    );
    const ends = [points[0], points.at(-1)];
    const near = points.filter(({ y }) => y > top && y < bottom);
    return cards
      .filter(({ box }) => !ends.some((end) => end && isOn(end, box, 1)))
      .filter(({ box }) => near.some((point) => isOn(point, box, -1)))
      .map(({ name }) => name);
  });
  const [graph] = boxesOf(".graph");
  const cut = [...cards, ...boxesOf(".kind, .kind .noun, .kind .badge")]
    .filter(({ box }) => graph && (box.left < graph.box.left || box.right > graph.box.right))
    .map(({ name }) => name);
  return { cards: cards.length, lines: lines.length, crossed, cut };
};

const sized = (objects: number): SampleSize => ({
  ...smallAccount,
  applications: Math.ceil(objects * 0.4),
  participants: Math.ceil(objects * 0.15),
  channels: Math.ceil(objects * 0.1),
  orchestrations: Math.ceil(objects * 0.15),
  accounts: Math.ceil(objects * 0.18),
});

const one = { applications: 1, participants: 1, channels: 1, orchestrations: 1, accounts: 1 };

describe("the graph", () => {
  for (const width of [400, 900, 1400])
    inBrowser(
      `is whole, and its lines touch no other card, at ${width} pixels`,
      async (started) => {
        for (const sample of [undefined, { ...smallAccount, ...one }, sized(60), hugeAccount]) {
          const { page, view } = await openPage(started, {
            ...(sample ? { sample } : {}),
            browser: { viewport: { width, height: 900 } },
          });
          const scrollTo = async (part: number): Promise<void> => {
            const graph = page.locator(".graph");
            await graph.evaluate((each, at) => each.scrollTo(0, each.scrollHeight * at), part);
            // It is drawn in the frame after this one.
            await page.evaluate(async () => {
              for (const _ of "12") await new Promise((done) => requestAnimationFrame(done));
            });
          };
          await view("objects");
          if (sample) await page.locator(".node button").first().waitFor();
          for (const part of [0, 1]) {
            await scrollTo(part);
            const { lines, crossed, cut } = await page.evaluate(flaws);
            expect(lines > 0).toBe(sample !== undefined && width > 400);
            expect([...crossed, ...cut]).toEqual([]);
          }
          await view("objects/authentications/10000000-0000-4000-8000-000000000000");
          await scrollTo(0);
          const { crossed, cut } = await page.evaluate(flaws);
          expect([...crossed, ...cut]).toEqual([]);
          await page.context().close();
        }
      },
    );
});

describe("conversations", () => {
  inBrowser("grow while they are looked at, with what became of each delivery", async (started) => {
    const { page, service } = await openConversation(started);
    const messages = page.getByRole("log", { name: "Messages" });
    await messages.getByText("Which order is it?").first().waitFor();
    const id = "70000000-0000-4000-8000-000000000001";
    const said = messageTo(id, "platform_agent", "A word from elsewhere");
    const reply = await service.call("POST", "/conversations/messages", said);
    expect(reply.status).toBe(202);
    await messages.getByText("A word from elsewhere").waitFor();
    await messages.locator("li").last().getByText("delivered").waitFor();
  });

  inBrowser("take messages from each sender, of the types that it may send", async (started) => {
    const { page, service } = await openConversation(started);
    const form = page.getByRole("form", { name: "Send a message" });
    const types = () => form.getByLabel("Message type").locator("option").allTextContents();
    expect(await types()).not.toContain("agent.join");
    await form.getByLabel("Sender", { exact: true }).selectOption("custom_agent");
    expect(await types()).toContain("agent.join");
    await form.getByLabel("Sender's name").fill("Sam");
    await form.getByLabel("Text").fill("I am here.");
    await form.getByLabel("Text").press("Enter");
    await page.getByRole("log").getByText("I am here.").waitFor();
    const [call] = (await service.emulator.control.log()).slice(-1);
    expect(call).toMatchObject({
      template: "/conversations/messages",
      status: 202,
      clientId: "page",
    });
    await form.getByText("JSON content").click();
    await form.getByLabel("Content as a JSON object").fill("[1]");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("must be a JSON object").waitFor();
  });

  inBrowser("are started by a customer, and ended by whoever has them", async (started) => {
    const { page, view } = await openPage(started, { sample: smallAccount, mayFail: /400/ });
    await view("conversations");
    await page.getByRole("link", { name: "Start a conversation" }).click();
    const start = page.getByRole("form", { name: "Start a conversation" });
    await start.getByLabel("Customer").fill("Grace");
    await start.getByLabel("Text").fill("Good morning");
    await start.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Grace" }).waitFor();
    await page.getByRole("log").getByText("Good morning").waitFor();
    const form = page.getByRole("form", { name: "Send a message" });
    await form.getByLabel("Message type").selectOption("conversation.end");
    await form.getByRole("button", { name: "Send" }).click();
    await page.getByText("no more messages can be sent").waitFor();
    expect(await form.isVisible()).toBe(false);
  });

  inBrowser("are found by their messages, and opened where the text is", async (started) => {
    const sample = { ...smallAccount, messages: 200 };
    const { page, service, view } = await openPage(started, { sample });
    const id = "70000000-0000-4000-8000-000000000001";
    const say = (content: unknown) => {
      const [message] = messageTo(id).messages.message;
      return service.call("POST", "/conversations/messages", {
        messages: { message: [{ ...message, content }] },
      });
    };
    await view("conversations");
    await page.getByLabel("Search").fill("a NEEDLE");
    await page.getByText("Nothing matches the filters.").waitFor();
    expect(await page.locator(".count").first().textContent()).toBe("0 of 3 conversations");
    await say({ text: "There is a needle in this message." });
    const hit = page.locator(".item a");
    await hit.getByText("There is a needle in").waitFor();
    expect(await hit.count()).toBe(1);
    expect(await hit.locator("mark").allTextContents()).toEqual(["a needle"]);
    // It is no longer the last one.
    for (let more = 0; more < 30; more += 1) await say({ text: `More ${more}` });
    await hit.click();
    const mark = page.getByRole("log").locator("mark");
    await mark.waitFor();
    expect(
      await mark.evaluate((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        const log = each.closest("[role=log]")?.getBoundingClientRect();
        return log !== undefined && top >= log.top && bottom <= log.bottom;
      }),
    ).toBe(true);
    await say({ json: JSON.stringify({ title: "Another needle: a needle" }) });
    await page.getByRole("log").locator("pre mark").waitFor();
    await page.getByLabel("State").selectOption("agent");
    expect(await hit.count()).toBe(1);
    await page.getByLabel("State").selectOption("ended");
    expect(await hit.count()).toBe(0);
    await page.getByLabel("Search").fill("");
    await page.getByText("1 of 3 conversations").waitFor();
    await expect.poll(() => page.locator("mark").count()).toBe(0);
  });

  inBrowser("show what was found in a message before the last 500", async (started) => {
    const { page, service, view } = await openPage(started, {
      sample: { ...smallAccount, messages: 600 },
    });
    const snapshot = (await service.control("GET", "/snapshot")).text;
    const text = snapshot.replace("Where is my order?", "A needle \u202E at the beginning");
    await service.control("PUT", "/snapshot", JSON.parse(text));
    await view("conversations");
    await page.getByLabel("Search").fill("needle");
    await page.locator(".item a").filter({ hasText: "A needle" }).click();
    await page
      .getByText("100 earlier messages not shown here. Found in one of them: A needle \\u202e at")
      .waitFor();
    expect(await page.locator(".transcript mark").allTextContents()).toEqual(["needle"]);
    await page.getByLabel("Search").fill("");
    await page.getByText("100 earlier messages not shown here.", { exact: true }).waitFor();
  });

  inBrowser("have links to their assets, and to files elsewhere", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await sendAsset(service, "orders.csv", "a,b", [
      { name: "invoice.pdf", size: 2, url: "https://files.example.com/1" },
      { name: "harm", size: 1, url: "javascript:window.harmed=1" },
    ]);
    await view("conversations/70000000-0000-4000-8000-000000000001");
    const files = page.getByRole("list", { name: "Attachments" });
    await files.waitFor();
    expect(await files.locator("li").allTextContents()).toEqual([
      "orders.csv (3 bytes)",
      "invoice.pdf (2 bytes) on files.example.com",
      "harm (1 bytes)",
    ]);
    const links = files.getByRole("link");
    expect(await links.count()).toBe(2);
    expect(await links.last().getAttribute("href")).toBe("https://files.example.com/1");
    const downloading = page.waitForEvent("download");
    await links.first().click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("orders.csv");
    expect(readFileSync(await download.path(), "utf8")).toBe("a,b");
  });
});

describe("calls and rates", () => {
  inBrowser("calls appear at the top, and are filtered", async (started) => {
    const { page, service, view } = await openPage(started);
    await view("calls");
    await service.call("GET", "/channels");
    await service.call("GET", "/accounts/nothing-there");
    const table = page.getByRole("table", { name: "Calls, newest first" });
    await table.getByText("/accounts/nothing-there").waitFor();
    const paths = () => table.locator(".rows .wide").allTextContents();
    expect(await paths()).toEqual(["/accounts/nothing-there", "/channels"]);
    expect(await table.locator(".rows .reason").allTextContents()).toEqual([
      "404-101 There is no account with this ID.",
      "",
    ]);
    await page.getByLabel("Outcome").selectOption("good");
    expect(await paths()).toEqual(["/channels"]);
    await page.getByLabel("Outcome").selectOption("");
    await page.getByLabel("Path, name, client, or reason").fill("NOTHING");
    expect(await paths()).toEqual(["/accounts/nothing-there"]);
  });

  inBrowser("buckets empty and fill before one's eyes", async (started) => {
    const { page, service, view } = await openPage(started, { plan: "basic", clock: "manual" });
    await view("rates");
    const meter = page.getByRole("meter", { name: "Calls left for GET /channels", exact: true });
    expect(await meter.getAttribute("value")).toBe("2");
    for (let call = 0; call < 3; call += 1) await service.call("GET", "/channels");
    await page.locator('[aria-label="Calls left for GET /channels"][value="0"]').waitFor();
    await page.getByRole("group", { name: "Advance the clock" }).getByText("+1 min").click();
    await page.locator('[aria-label="Calls left for GET /channels"][value="2"]').waitFor();
  });
});

describe("the page as a whole", () => {
  inBrowser("asks before it resets the emulator", async (started) => {
    const { page, service, view } = await openPage(started, { sample: smallAccount });
    await view("objects");
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect((await service.call("GET", "/channels")).text).toContain("custom.orders");
    await page.getByRole("button", { name: "Reset…" }).click();
    await page.getByRole("button", { name: "Remove everything" }).click();
    await page.getByText("No objects yet.").waitFor();
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

  inBrowser("says that the emulator is gone", async (started) => {
    const { page, service, view } = await openPage(started, { mayFail: /ERR_/ });
    await view("objects");
    await service.emulator.close();
    await page.getByText("The emulator is not responding.").waitFor();
  });
});
