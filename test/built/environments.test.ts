import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { follow, guideCommands } from "../support/guide-commands.js";

const program = `
const { Authentication, ClientApplication, Channel } = require("pulumi-conversation");
const channel = new Channel("web", { displayName: "Web", icon: "aVZC", type: "custom." + require("@pulumi/pulumi").getStack() });
if (process.env.MORE) new Authentication("auth", { basicAuth: { username: "hub", password: "p" } });
`;

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(program, {}, { CONVERSATION_PLAN: "developer" });
  await project.succeed(["up", "--yes", "--skip-preview"], { MORE: "yes" });
});

afterAll(() => project?.close());

test("the guide about several environments does what it says", async () => {
  for (const line of guideCommands("configuration")) {
    const { code, output } = await follow(project, line);
    // Two environments differ, and what one has is another stack's for the other.
    const isRight = line.includes(" compare ") ? code === 2 : code === 0;
    expect({ line, isRight, output: isRight ? "" : output }).toMatchObject({ isRight: true });
  }
});
