import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callbacks } from "../../sdk/runtime/index.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { closeServer, listenHere, originOf } from "../support/loopback-server.js";

type Json = Record<string, unknown>;

/** A whole account, and its smoke test: SMOKE turns it on, SECOND makes another one. */
const program = `
const c = require("pulumi-conversation");
const { CALLBACK, TITLE = "Web", SMOKE, SECOND, TRIGGER = "a" } = process.env;
const party = { callback: CALLBACK, notificationEmail: "ops@example.com", basicAuth: { username: "hub", password: "canary-password" } };
const shop = new c.ConversationAccount("shop", {
  address: "shop",
  channel: { type: "custom.web", displayName: TITLE, icon: "aVZC" },
  customer: party,
  bots: { orders: party },
});
const probe = { url: CALLBACK + "/probe", authorization: "Bearer canary-probe" };
const smoke = new c.ConversationSmokeTest("smoke", { account: shop, enabled: SMOKE === "on", probe, triggers: [TRIGGER] });
if (SECOND) new c.ConversationSmokeTest("second", { account: shop, enabled: true, timeout: 1, probe: { url: CALLBACK + SECOND } });
exports.arrived = smoke.arrived;
`;

const on = { SMOKE: "on" };
const seen: string[] = [];
const texts: (string | undefined)[] = [];
const hub = callbacks({
  authenticate: { basic: { username: "hub", password: "canary-password" } },
  onMessage: ({ type, text, conversationId }) => {
    if (type === "text") texts.push(text);
    seen.unshift(conversationId);
  },
});
const server = createServer((request, response) => {
  if (request.url === "/down") return response.writeHead(500).end();
  if (request.url !== "/probe") return hub.node(request, response);
  const known = request.headers.authorization === "Bearer canary-probe";
  return response.writeHead(known ? 200 : 401).end(JSON.stringify(seen));
});

let project: EmulatedProject;

const calls = async (): Promise<string> => JSON.stringify(await project.control("GET", "/stats"));
const up = (environment: Readonly<Record<string, string>> = {}) =>
  project.succeed(["up", "--yes", "--skip-preview"], environment);
const failedUp = async (environment: Readonly<Record<string, string>>): Promise<string> => {
  const { code, output } = await project.pulumi(["up", "--yes", "--skip-preview"], environment);
  expect(code).not.toBe(0);
  return output;
};

beforeAll(async () => {
  await listenHere(server);
  const CALLBACK = originOf(server);
  project = await emulatedProject(program, {}, { CALLBACK });
});

afterAll(async () => {
  await project?.close();
  await closeServer(server);
});

test("it is off by default: an account is set up and no message is sent", async () => {
  await up();
  expect(await calls()).not.toContain("/conversations/messages");
  expect(project.state()).toContain("ConversationSmokeTest::smoke");
});

test("a preview of a test that is on makes no call", async () => {
  const before = await calls();
  expect(await project.succeed(["preview"], on)).toMatch(
    /~ .*ConversationSmokeTest smoke\s+update/,
  );
  expect(await calls()).toBe(before);
});

test("a rehearsal leaves it out, whatever is run besides", async () => {
  const type = "pulumi-nodejs:dynamic/conversation:ConversationSmokeTest";
  const { code, output, errors } = await project.tool(["rehearse", "--also", type], on);
  expect(code, output + errors).toBe(0);
  expect(output).toContain(`Not run because a rehearsal sends no messages:\n  - ${type} smoke\n`);
  expect(output).not.toContain("--also");
  expect(texts).toEqual([]);
});

test("turned on it sends one message, which arrives", async () => {
  expect(await up(on)).toMatch(/arrived\s*: true/);
  expect(texts).toEqual(["Smoke test of this account. Please ignore."]);
  await hub.idle();
  expect(new Set(seen).size).toBe(1);
  expect(project.state()).not.toMatch(/canary-(probe|password)/);
});

test("without changes there is no call and no message, and a refresh sends none", async () => {
  const before = await calls();
  await project.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"], on);
  expect(await calls()).toBe(before);
  await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"], on);
  expect(texts).toHaveLength(1);
});

test("a changed part of the account is a new test", async () => {
  expect(await up({ ...on, TITLE: "Web chat" })).toMatch(/~ 2 updated/);
  expect(texts).toHaveLength(2);
});

test("a broken link fails the update by name, and the next run tests again", async () => {
  const whole = (await project.control("GET", "/snapshot")) as Json;
  const { participants: _, ...objects } = whole.objects as Json;
  await project.control("PUT", "/snapshot", {
    ...whole,
    objects: { ...objects, participants: [] },
  });
  const changed = { ...on, TITLE: "Web chat", TRIGGER: "c" };
  const output = await failedUp(changed);
  expect(output).toMatch(
    /running the smoke test failed: the chain is broken at the participant: orchestration "shop-\w+" \(ID .+\) refers to participant .+, which does not exist/,
  );
  expect(output).not.toMatch(/canary|\n\s+at .*\.js:\d+/);
  expect(texts).toHaveLength(2);
  await project.control("PUT", "/snapshot", whole);
  await up(on);
  expect(texts).toHaveLength(3);
});

test("a creation that fails is not recorded and harms nothing, and the next run tests again", async () => {
  const sent = texts.length;
  expect(await failedUp({ ...on, SECOND: "/down" })).toContain("the chain is broken at the probe");
  expect(project.state()).not.toContain("ConversationSmokeTest::second");
  const before = await calls();
  await project.succeed(["preview", "--expect-no-changes"], on);
  expect(await calls()).toBe(before);
  expect(texts).toHaveLength(sent + 1);
});

test("destroy removes everything and sends nothing", async () => {
  const sent = seen.length;
  await project.succeed(["destroy", "--yes", "--skip-preview"], on);
  await hub.idle();
  expect(seen).toHaveLength(sent);
  expect(await project.collections()).toMatchObject({ accounts: [], channels: [] });
});
