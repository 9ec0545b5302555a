import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { running, start } from "../emulator/running.js";

const root = resolve(__dirname, "../..");
const folder = join(root, "emulator/page/browser");

/** What the page is made of, as paths of the server. */
const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(mjs|css|svg)$/.test(name))
  .map((name) => `/page/${name}`);

test("the page is at /, and says what it may do", async () => {
  const service = await running();
  const reply = await service.send("GET", "/");
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  const policy = String(reply.headers["content-security-policy"]).split("; ");
  expect(policy).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  expect(reply.text).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son\w+=/i);
  expect(reply.text).not.toMatch(/https?:/);
});

test("everything that the page is made of is served, with its type and the same policy", async () => {
  const service = await running();
  const types = { mjs: "text/javascript", css: "text/css", svg: "image/svg+xml" };
  expect(files.length).toBeGreaterThan(10);
  for (const path of files) {
    const reply = await service.send("GET", path);
    expect(reply.status, path).toBe(200);
    const type = types[path.split(".").at(-1) as keyof typeof types];
    expect(String(reply.headers["content-type"])).toContain(type);
    expect(reply.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(reply.text).toBe(readFileSync(join(folder, path.slice("/page/".length)), "utf8"));
  }
});

test("the page is read, and none of its files is written to", async () => {
  const service = await running();
  const head = await service.send("HEAD", "/");
  expect([head.status, head.text]).toEqual([200, ""]);
  expect((await service.send("POST", "/", { raw: "{}" })).status).toBe(404);
});

test.each([
  "/page/",
  "/page/nothing.mjs",
  "/page/tsconfig.json",
  "/page/../../../package.json",
  "/page/%2e%2e/serve-page.ts",
  "/page//main.mjs",
  "/page/index.html",
  "/page/__proto__",
  "/page/vendor/preact.d.mts",
])("nothing else can be read by %s", async (path) => {
  const service = await running();
  const reply = await service.send("GET", path);
  expect(reply.status).toBe(404);
  expect(reply.headers["content-security-policy"]).toContain("default-src 'none'");
});

const outside = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.skipIf(outside === undefined)("other machines do not see the page", async () => {
  await using service = await start({ host: "0.0.0.0" });
  const { port } = new URL(service.emulator.baseUrl);
  for (const path of ["/", "/page/main.mjs"]) {
    const reply = await fetch(`http://${outside}:${port}${path}`, {
      headers: { "x-forwarded-for": "127.0.0.1" },
    });
    expect([reply.status, await reply.text()]).toEqual([
      403,
      "The page is available only on this machine.\n",
    ]);
  }
});

test("the package holds what the page is made of", () => {
  const npm = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const packed = execFileSync("npm", npm, { cwd: root, encoding: "utf8" });
  for (const path of ["index.html", ...files.map((file) => file.slice("/page/".length))])
    expect(packed).toContain(`"emulator/page/browser/${path}"`);
});
