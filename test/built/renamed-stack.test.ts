import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** Resources of three kinds without names. */
const program = `
const { Authentication, ClientApplication, Participant } = require("pulumi-conversation");
const authentication = new Authentication("login", { basicAuth: { username: "u", password: "p" } });
const role = { name: "custom_bot", version: "v1", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication };
const application = new ClientApplication("desk", { roles: [role] });
new Participant("bot", { type: "custom_bot", application });
`;

const up = ["up", "--yes", "--skip-preview"];

let project: EmulatedProject;

beforeEach(async () => {
  project = await emulatedProject(program);
  await project.succeed(up);
});

afterEach(() => project?.close());

const idsAndNames = async () => (await project.objects()).map(({ id, name }) => ({ id, name }));

test("a new stack with the former name of a renamed one has objects and names of its own", async () => {
  const before = await idsAndNames();
  await project.succeed(["stack", "rename", "renamed"]);
  await project.succeed(["stack", "init", "prod"]);
  await project.succeed(up);
  const both = await idsAndNames();
  expect(both).toEqual(expect.arrayContaining(before));
  expect(both).toHaveLength(2 * before.length);
  expect(new Set(both.map(({ name }) => name)).size).toBe(both.length);
  await project.succeed([
    "up",
    "--yes",
    "--skip-preview",
    "--expect-no-changes",
    "--stack",
    "renamed",
  ]);
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(await idsAndNames()).toEqual(before);
});

test("a stack whose state was lost gets no second objects", async () => {
  const before = await idsAndNames();
  await project.succeed(["stack", "rm", "--yes", "--force", "--preserve-config"]);
  await project.succeed(["stack", "init", "prod"]);
  const { code, output } = await project.pulumi(up);
  expect(code).not.toBe(0);
  expect(output).toContain("#owned_elsewhere");
  expect(await idsAndNames()).toEqual(before);
});
