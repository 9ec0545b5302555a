import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { expect } from "vitest";
import { browserTests } from "../support/browser-tests.js";
import { openPage } from "../support/opened-page.js";
import { sendAsset, smallAccount } from "../support/sample-account.js";

const inBrowser = browserTests();

const axe = readFileSync(createRequire(__filename).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** The first of what axe-core finds, each in a line. */
const findings = async (page: Page): Promise<readonly string[]> => {
  // Evaluated by the debugger, so that the page's own policy stays as it is.
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  const found = violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${impact} ${id}: ${html} ${failureSummary}`),
  );
  return found.slice(0, 5);
};

const views = [
  "objects",
  "objects/clientapplications/20000000-0000-4000-8000-000000000000",
  "conversations",
  "conversations/new",
  "conversations/70000000-0000-4000-8000-000000000001",
  "conversations/70000000-0000-4000-8000-000000000002",
  "calls",
  "calls/5",
  "calls/of/channels/40000000-0000-4000-8000-000000000000",
  "deliveries",
  "deliveries/0",
  "connect",
  "rates",
];

const looks = (["light", "dark"] as const).flatMap((colorScheme) =>
  [400, 1400].map((width) => ({ colorScheme, width })),
);

const expectAccessible = async (
  browser: Browser,
  { colorScheme, width }: (typeof looks)[number],
): Promise<void> => {
  const look = `${colorScheme} at ${width} pixels`;
  const { page, service, view } = await openPage(browser, {
    sample: smallAccount,
    plan: "developer",
    browser: { colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce" },
  });
  for (let call = 0; call < 5; call += 1) await service.call("GET", "/channels");
  await service.call("POST", "/authentications", { name: "n", basicAuth: { password: "p" } });
  await service.call("POST", "/conversations/messages", {
    messages: {
      message: [
        {
          type: { value: "richMessage.listpicker" },
          content: { json: '{"title":"Which one?","options":["a","b"]}' },
          conversation: { id: "70000000-0000-4000-8000-000000000001" },
          sender: { type: "custom_agent" },
        },
        {
          type: { value: "agent.join" },
          conversation: { id: "70000000-0000-4000-8000-000000000001" },
          sender: { type: "custom_agent" },
        },
      ],
    },
  });
  for (const name of views) {
    await view(name);
    await page.waitForTimeout(600);
    expect(await findings(page), `${look}: ${name}`).toEqual([]);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, `${look}: ${name} is wider than the window`).toBeLessThanOrEqual(0);
  }
  await sendAsset(service, "orders.csv", "a,b", [
    { name: "b", size: 1, url: "https://x.example/" },
  ]);
  await view("conversations");
  await page.getByLabel("Search").fill("Attachment");
  await page.locator(".item mark").waitFor();
  expect(await findings(page), `${look}: a search`).toEqual([]);
  await page.locator(".item a").click();
  await page.getByRole("log").locator("mark").waitFor();
  expect(await findings(page), `${look}: what was found`).toEqual([]);
  await view("conversations");
  await page.locator(".button.main").hover();
  expect(await findings(page), `${look}: under the pointer`).toEqual([]);
  await page.getByRole("button", { name: "Reset…" }).click();
  expect(await findings(page), `${look}: dialog`).toEqual([]);
};

// Side by side: most of the time each waits for what the page shows next.
inBrowser(
  "axe-core finds nothing in light and in dark, at 400 and at 1400 pixels",
  async (browser) => {
    await Promise.all(looks.map((look) => expectAccessible(browser, look)));
  },
);
