import type { Page } from "playwright-core";
import { describe, expect } from "vitest";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { callbackServer } from "../../emulator-runtime/callback-server.js";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { messageTo, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const conversation = "70000000-0000-4000-8000-000000000000";
const application = "20000000-0000-4000-8000-000000000002";
const misspelled = {
  name: "orders-callback",
  type: "basic",
  basicAuth: { username: "hub", pasword: "hunter2-sent" },
};

const view = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name: new RegExp(`^${name}`) });
const chosenCall = (page: Page) => page.getByRole("complementary", { name: "Chosen call" });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

describe("a refused call", () => {
  inBrowser("is explained two clicks after the page was opened", async (started) => {
    const { page, service, view: open } = await openPage(started, { sample: smallAccount });
    await service.call("GET", "/channels");
    await service.call("POST", "/authentications", misspelled);
    await open("objects");
    await view(page, "Calls").click();
    await page.getByRole("row", { name: /POST \/authentications/ }).click();
    const shown = chosenCall(page);
    await shown.getByText("The request violates a rule.").waitFor();
    await shown.getByText("400-143 basicAuth.password: a required attribute is missing.").waitFor();
    await shown.getByText("docs/troubleshooting.md, REJECTED").waitFor();
    // What was sent, but for what may be the secret in the wrong place.
    await shown.getByText('"username": "hub"').waitFor();
    await shown.getByText('"pasword": "********"').waitFor();
    await shown.getByText('"code": "400-143"').waitFor();
    expect(await page.content()).not.toContain("hunter2-sent");
  });

  inBrowser("is one click away from every view, the newest one", async (started) => {
    const { page, service, view: open } = await openPage(started, { sample: smallAccount });
    await open("rates");
    expect(await page.getByText("Last refused").isVisible()).toBe(false);
    await service.call("DELETE", "/channels/40000000-0000-4000-8000-000000000000");
    await service.call("GET", "/channels");
    await page.getByRole("link", { name: /^Last refused: 400 DELETE/ }).click();
    await chosenCall(page).getByText("An object in use cannot be deleted.").waitFor();
  });

  inBrowser(
    "may be one of the token URL: what was sent is shown without secrets",
    async (started) => {
      const { page, service, view: open } = await openPage(started, { sample: smallAccount });
      await open("rates");
      const wrong = service.credentials({ client_secret: "hunter2-guess" });
      await service.form(service.emulator.tokenUrl, wrong);
      await page.getByRole("link", { name: "Last refused: 401 POST /oauth/token" }).click();
      const shown = chosenCall(page);
      await shown
        .getByText("invalid_client the client is unknown or its secret is wrong")
        .waitFor();
      await shown.getByText('"client_id": "emulator"').waitFor();
      await shown.getByText('"client_secret": "********"').waitFor();
      expect(await page.content()).not.toContain("hunter2-guess");
      await shown.getByRole("link", { name: "Connect" }).click();
      await page.getByRole("button", { name: "Copy client secret" }).waitFor();
    },
  );

  inBrowser("says which fault, or which rate, it met", async (started) => {
    const {
      page,
      service,
      view: open,
    } = await openPage(started, {
      sample: smallAccount,
      plan: "developer",
      burst: 1,
    });
    await service.emulator.control.faults({ on: "GET /accounts", kind: "status", status: 503 });
    for (const path of ["/channels", "/channels", "/accounts"]) await service.call("GET", path);
    await open("calls/1");
    await chosenCall(page).getByText("The endpoint's token bucket was empty.").waitFor();
    await chosenCall(page).getByRole("link", { name: "Rates" }).waitFor();
    await open("calls/2");
    await chosenCall(page).getByText("A fault was requested: status.").waitFor();
    await chosenCall(page).getByText("docs/emulator.md, Faults").waitFor();
  });
});

inBrowser(
  "the list of calls is one stop of the Tab key, and arrow keys lead on",
  async (started) => {
    const { page, service, view: open } = await openPage(started, { sample: smallAccount });
    for (const path of ["/channels", "/accounts", "/participants"]) await service.call("GET", path);
    await open("calls");
    await page.getByRole("link", { name: "/participants" }).waitFor();
    await page.getByLabel("Object").focus();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("/participants");
    await page.keyboard.press("End");
    expect(await focused(page)).toBe("/channels");
    await page.keyboard.press("ArrowUp");
    expect(await focused(page)).toBe("/accounts");
    // What comes in does not move the focus.
    await service.call("GET", "/orchestrations");
    await page.getByRole("link", { name: "/orchestrations" }).waitFor();
    expect(await focused(page)).toBe("/accounts");
    await page.keyboard.press("Enter");
    await chosenCall(page).getByRole("heading", { name: "GET /accounts" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Close");
    await page.keyboard.press("Escape");
    await expect.poll(() => focused(page)).toBe("/accounts");
    await chosenCall(page).waitFor({ state: "hidden" });
  },
);

inBrowser("calls, deliveries, conversations and objects lead to each other", async (started) => {
  const callback = await callbackServer();
  const {
    page,
    service,
    view: open,
  } = await openPage(started, { sample: smallAccount, callback: callback.url });
  await service.call("GET", "/channels");
  expect(
    (await service.call("POST", "/conversations/messages", messageTo(conversation))).status,
  ).toBe(202);
  await service.call("POST", "/conversations/messages", messageTo(conversation, "nobody"));
  await open(`conversations/${conversation}`);
  await page.getByRole("link", { name: "calls", exact: true }).click();
  // The refused one names the conversation in what was sent.
  await page.getByText("2 of 3 calls").waitFor();
  await page.getByLabel("Outcome").selectOption("good");
  await page.getByRole("row", { name: /POST/ }).click();
  await chosenCall(page).getByRole("link", { name: "deliveries" }).click();
  await page.getByText("1 attempt").waitFor();
  await page.getByRole("link", { name: callback.url }).click();
  const attempt = page.getByRole("complementary", { name: "Chosen attempt" });
  await attempt.getByText("Returned 200").waitFor();
  await attempt.getByRole("link", { name: "The call that sent the message" }).click();
  await chosenCall(page).getByRole("heading", { name: "POST /conversations/messages" }).waitFor();
  await chosenCall(page)
    .getByRole("link", { name: /^Ada Example/ })
    .click();
  await page.getByRole("log").getByText("delivered").click();
  await attempt.waitFor({ state: "hidden" });
  await page.getByRole("link", { name: callback.url }).click();
  await attempt.getByRole("link", { name: /-app$/ }).click();
  const object = page.getByRole("complementary", { name: "Chosen object" });
  await object.getByRole("link", { name: "1 delivery attempt" }).click();
  await page.getByText("1 attempt").waitFor();
  await open(`objects/clientapplications/${application}`);
  await service.call("GET", `/clientapplications/${application}`);
  await object.getByRole("link", { name: "1 call" }).click();
  await page.getByText("1 of 4 calls").waitFor();
  await page.getByLabel("Object").selectOption("");
  await page.getByText("4 calls").waitFor();
  // By the name of an object, which no path holds.
  await page.getByLabel("Path, name, client, or reason").fill("billing-app");
  await page.getByText("1 of 4 calls").waitFor();
});

inBrowser(
  "a message that no callback takes is one click away, with the next step",
  async (started) => {
    const callback = await callbackServer();
    const {
      page,
      service,
      view: open,
    } = await openPage(started, { sample: smallAccount, callback: callback.url, clock: "manual" });
    await service.emulator.control.switches({ deliveryRetries: 1 });
    await open("deliveries");
    await page.getByText("No deliveries yet.").waitFor();
    expect(await page.getByText("Last undelivered").isVisible()).toBe(false);
    callback.answer = (_received, response) => void response.writeHead(401).end();
    await service.call("POST", "/conversations/messages", messageTo(conversation));
    await page
      .getByRole("link", { name: "Last undelivered: text. The callback refused the login." })
      .click();
    const attempt = page.getByRole("complementary", { name: "Chosen attempt" });
    await attempt.getByText("The callback refused the login.").waitFor();
    await attempt.getByText("Returned 401").waitFor();
    await attempt.getByText("The service will try again.").waitFor();
    await attempt.getByText("Compare the role's authentication").waitFor();
    // After a retry none is left.
    await page.getByRole("button", { name: "+1 s" }).click();
    await attempt.getByText("Attempt 2 failed, too.").waitFor();
    await page
      .getByRole("link", { name: "Last undelivered: text. The callback refused the login." })
      .click();
    await attempt.getByText("attempt 2").waitFor();
    await attempt.getByText("This was the last attempt.").waitFor();
    await attempt.getByText("The callback refused the login.").waitFor();
    // The next message arrives: the sign stays with the one that did not.
    callback.answer = (_received, response) => void response.writeHead(200).end();
    await service.call("POST", "/conversations/messages", messageTo(conversation));
    await view(page, "Deliveries").getByText("3").waitFor();
    await page
      .getByRole("link", { name: "Last undelivered: text. The callback refused the login." })
      .waitFor();
    // An attempt that a later one made up for says so, and asks for nothing.
    callback.answer = (_received, response) => void response.writeHead(503).end();
    await service.call("POST", "/conversations/messages", messageTo(conversation));
    await view(page, "Deliveries").getByText("4").waitFor();
    await open("deliveries/3");
    await attempt.getByText("The bot asked the service to try again later.").waitFor();
    await attempt.getByText("increase the deliveryRetries switch").waitFor();
    await page.getByRole("link", { name: "Last of 2 undelivered: text. The bot asked" }).waitFor();
    callback.answer = (_received, response) => void response.writeHead(200).end();
    await page.getByRole("button", { name: "+1 s" }).click();
    await attempt.getByText("Attempt 2 delivered the message.").waitFor();
    expect(await attempt.getByText("deliveryRetries").isVisible()).toBe(false);
  },
);

inBrowser("an empty account shows the commands that fill it, to be copied", async (started) => {
  const { page, service, origin, view: open } = await openPage(started, { plan: "basic" });
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  const copied = async (what: string): Promise<string> => {
    await page.getByRole("button", { name: `Copy ${what}`, exact: true }).click();
    await page.getByText("Copied").waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    await page.getByText("Copied").waitFor({ state: "detached" });
    return text;
  };
  await open("objects");
  await page.getByText("export CONVERSATION_CLIENT_ID=emulator").waitFor();
  const { clientSecret, baseUrl } = service.emulator;
  expect(await page.content()).not.toContain(clientSecret);
  const lines = Object.entries(emulatorEnvironment(service.emulator, "basic"));
  expect((await copied("the environment")).split("\n").sort()).toEqual(
    lines.map(([name, value]) => `export ${name}=${value}`).sort(),
  );
  // Without these, the new program has no stack, and Pulumi perhaps no passphrase.
  await page.getByText("run the commands under Next, stopping before npm test").waitFor();
  const init = "npx pulumi-conversation init shop --emulator --yes";
  expect(await copied(init)).toBe(init);
  expect(await copied("pulumi up")).toBe("pulumi up");
  await open("connect");
  expect(await copied("base URL")).toBe(baseUrl);
  expect(await copied("client secret")).toBe(clientSecret);
  const token = await copied("token");
  expect((await service.call("GET", "/channels", undefined, { token })).status).toBe(200);
  expect(await page.content()).not.toContain(clientSecret);
});
