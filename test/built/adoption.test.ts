import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** ADOPT is the argument of the channel, TWICE a second resource for the same object, SEALED a display name. */
const program = `
const c = require("pulumi-conversation");
const { secret } = require("@pulumi/pulumi");
const adopt = JSON.parse(process.env.ADOPT ?? "true");
const channel = { type: process.env.TYPE ?? "custom.kiosk", displayName: "New name", icon: "aVZC", adopt };
const seal = ({ props, opts }) => ({ props: { ...props, displayName: secret(process.env.SEALED) }, opts });
new c.Channel("kiosk", channel, process.env.SEALED ? { transforms: [seal] } : {});
if (process.env.TWICE) new c.Channel("again", { ...channel, type: "custom.again", adopt: process.env.TWICE });
`;

let project: EmulatedProject;
let id: string;

const made = {
  type: "custom.kiosk",
  displayName: "Old name",
  icon: "aVZC",
  active: false,
  restrictions: { inbound: { maxTextLength: 7 } },
  description: "Made by hand",
};

beforeAll(async () => {
  project = await emulatedProject(program);
});
afterAll(() => project?.close());
beforeEach(async () => {
  await project.control("POST", "/reset");
  id = String((await project.byHand("POST", "/channels", made)).id);
});

test("a preview shows the object and every change, and writes nothing", async () => {
  const before = await project.objects("channels");
  const done = (await project.writes()).length;
  const { code, output } = await project.pulumi(["preview", "--diff"]);
  expect(code).toBe(0);
  expect(output).toContain(`adopts the channel "custom.kiosk" (ID ${id})`);
  expect(output).toContain('displayName (was "Old name")');
  expect(output).not.toMatch(/active: /);
  expect(output).toMatch(
    /unchanged, because not declared in the program:[\s\S]*active[\s\S]*restrictions/,
  );
  expect(await project.objects("channels")).toEqual(before);
  expect((await project.writes()).length).toBe(done);
});

test("a preview shows no value that a transform has made secret", async () => {
  const output = await project.succeed(["preview", "--diff"], { SEALED: "not for all eyes" });
  expect(output).toContain('displayName (was "Old name")');
  expect(output).not.toContain("for all eyes");
});

test("up takes it over; adopt may stay without any effect; removing the resource removes the object", async () => {
  expect((await project.pulumi(["up", "--yes", "--skip-preview"])).code).toBe(0);
  expect(await project.objects("channels")).toMatchObject([
    {
      id,
      displayName: "New name",
      restrictions: made.restrictions,
      description: expect.stringMatching(/^Made by hand \[pulumi: /),
    },
  ]);
  const calls = JSON.stringify(await project.control("GET", "/stats"));
  await project.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
  expect(JSON.stringify(await project.control("GET", "/stats"))).toBe(calls);
  expect((await project.pulumi(["destroy", "--yes", "--skip-preview"])).code).toBe(0);
  expect(await project.objects("channels")).toEqual([]);
});
