import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

type Json = Record<string, unknown>;

/** ADOPT is the argument of the channel, TWICE a second resource for the same object. */
const program = `
const c = require("pulumi-conversation");
const adopt = JSON.parse(process.env.ADOPT ?? "true");
const channel = { type: process.env.TYPE ?? "custom.kiosk", displayName: "New name", icon: "aVZC", adopt };
new c.Channel("kiosk", channel);
if (process.env.TWICE) new c.Channel("again", { ...channel, type: "custom.again", adopt: process.env.TWICE });
`;

let emulator: Emulator;
let project: CliProject;
let id: string;

const control = async (path: string, init: RequestInit = {}): Promise<never> =>
  (await fetch(emulator.controlUrl + path, init)).json() as Promise<never>;

const channels = async (): Promise<Json[]> =>
  ((await control("/snapshot")) as { objects: { channels?: Json[] } }).objects.channels ?? [];

const made = { displayName: "Old name", icon: "aVZC", active: false, region: "eu" };

const byHand = async (type: string): Promise<string> => {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: emulator.clientId,
    client_secret: emulator.clientSecret,
    scope: "x/.default",
  });
  const token = (await (await fetch(emulator.tokenUrl, { method: "POST", body: form })).json()) as {
    access_token: string;
  };
  const headers = {
    authorization: `Bearer ${token.access_token}`,
    "content-type": "application/json",
  };
  const body = JSON.stringify({ ...made, type, description: "Made by hand" });
  const response = await fetch(`${emulator.baseUrl}/channels`, { method: "POST", headers, body });
  return ((await response.json()) as { id: string }).id;
};

const writes = async (): Promise<string[]> =>
  ((await control("/log")) as { method: string; template: string }[])
    .filter(({ method }) => method !== "GET")
    .map(({ method, template }) => `${method} ${template}`);

beforeAll(async () => {
  emulator = await startEmulator();
  project = await cliProject(program, emulatorEnvironment(emulator));
});
afterAll(async () => {
  project?.remove();
  await emulator?.close();
});
beforeEach(async () => {
  await fetch(`${emulator.controlUrl}/reset`, { method: "POST" });
  id = await byHand("custom.kiosk");
});

test.each([["preview"], ["preview", "--diff"]])(
  "%s %s shows the object and every change, and writes nothing",
  async (...args) => {
    const before = await channels();
    const done = (await writes()).length;
    const { code, output } = await project.pulumi(args);
    expect(code).toBe(0);
    expect(output).toContain(`adopts the channel "custom.kiosk" (id ${id})`);
    expect(output).toMatch(/displayName: "Old name" → "New name"/);
    expect(output).toMatch(/active: false → true/);
    expect(output).toMatch(/stays, as the program does not declare it:[\s\S]*region/);
    expect(await channels()).toEqual(before);
    expect((await writes()).length).toBe(done);
  },
);

test.each([
  [
    "no object of that name",
    { TYPE: "custom.none" },
    /there is no channel with the type "custom\.none" to adopt/,
  ],
  [
    "no object with that id",
    { ADOPT: '"1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10"' },
    /there is no channel with the id 1f0c2a54/,
  ],
])("a preview refuses %s, and up makes none", async (_, environment, message) => {
  for (const args of [["preview"], ["up", "--yes", "--skip-preview"]]) {
    const { code, output } = await project.pulumi(args, environment);
    expect(code).not.toBe(0);
    expect(output).toMatch(message);
  }
  expect(await channels()).toHaveLength(1);
});

test("one object for two resources is refused in the preview, both named", async () => {
  const { code, output } = await project.pulumi(["preview"], { ADOPT: `"${id}"`, TWICE: id });
  expect(code).not.toBe(0);
  expect(output).toMatch(/stands for another resource of this program: Channel "(kiosk|again)"/);
});

test("up takes it over; adopt may stay without any effect; removing the resource removes the object", async () => {
  expect((await project.pulumi(["up", "--yes", "--skip-preview"])).code).toBe(0);
  expect(await channels()).toMatchObject([
    {
      id,
      displayName: "New name",
      region: "eu",
      description: expect.stringMatching(/^Made by hand \[pulumi: /),
    },
  ]);
  const calls = JSON.stringify(await control("/stats"));
  for (const args of [
    ["preview", "--expect-no-changes"],
    ["up", "--yes", "--expect-no-changes"],
  ]) {
    const { code, output } = await project.pulumi(args);
    expect(code === 0 ? "" : output).toBe("");
  }
  expect(JSON.stringify(await control("/stats"))).toBe(calls);
  expect((await project.pulumi(["refresh", "--yes", "--expect-no-changes"])).code).toBe(0);
  expect((await project.pulumi(["destroy", "--yes", "--skip-preview"])).code).toBe(0);
  expect(await channels()).toEqual([]);
});
