import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** Resources of three kinds without names; ADOPT gives each the ID that it adopts. */
const program = `
const { Authentication, ClientApplication, Participant } = require("pulumi-conversation");
const adopt = JSON.parse(process.env.ADOPT ?? "{}");
const authentication = new Authentication("login", { adopt: adopt.login, basicAuth: { username: "u", password: "p" } });
const role = { name: "custom_bot", version: "v1", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication };
const application = new ClientApplication("desk", { adopt: adopt.desk, roles: [role] });
new Participant("bot", { adopt: adopt.bot, type: "custom_bot", application });
`;

const up = ["up", "--yes", "--skip-preview"];

let project: EmulatedProject;

beforeAll(async () => {
  // What is hidden nobody can write back, so only what the service shows can be released.
  project = await emulatedProject(program, { switches: { secrets: "echo" } });
  await project.succeed(up);
});

afterAll(() => project?.close());

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
  await project.succeed([...up, "--expect-no-changes", "--stack", "renamed"]);
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(await idsAndNames()).toEqual(before);
});

test("`pulumi state move` takes both halves of a replacement along, as the model of the engine does", async () => {
  const urn = `urn:pulumi:prod::shop::${project.token("Participant")}::bot`;
  const bots = (stack: string) =>
    project.held(stack).resources.filter((each) => each.urn.endsWith("::bot"));
  const whole = bots("renamed");
  const halves = whole.map((each) => ({ ...each, id: "old-half", delete: true }));
  await project.edit((resources) => [...resources, ...halves], "renamed");
  const move = ["state", "move", "--source", "renamed", "--dest", "prod", "--yes"];
  await project.succeed([...move, urn.replace("prod", "renamed")]);
  expect(bots("renamed")).toEqual([]);
  expect(bots("prod").map(({ id }) => id)).toEqual([whole[0]?.id, "old-half"]);
});

test("a stack whose state was lost gets no second objects; released, as the refusal says, they are adopted", async () => {
  const before = await idsAndNames();
  for (const stack of ["renamed", "prod"])
    await project.succeed(["stack", "rm", "--stack", stack, "--yes", "--force"]);
  await project.succeed(["stack", "init", "prod"]);
  const refused = await project.pulumi(up);
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("#owned_elsewhere");
  expect(await idsAndNames()).toEqual(before);
  const released = before.flatMap(({ id }) => ["--id", id]);
  expect(refused.output).toContain("orphans --release --id");
  const { code, output, errors } = await project.tool(["orphans", "--release", ...released]);
  expect(code, output + errors).toBe(0);
  const [login, desk, bot] = before.map(({ id }) => id);
  await project.succeed(up, { ADOPT: JSON.stringify({ login, desk, bot }) });
  expect(await idsAndNames()).toEqual(before);
});
