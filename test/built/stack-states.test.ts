import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

type Json = Record<string, unknown>;

const program = `
const { Authentication } = require("pulumi-conversation");
new Authentication("auth", { name: "auth", basicAuth: { username: "u", password: "p" } });
`;

let project: EmulatedProject;

const urnOf = (stack: string): string =>
  `urn:pulumi:${stack}::shop::${project.token("Authentication")}::auth`;

beforeEach(async () => {
  project = await emulatedProject(program);
  await project.succeed(["stack", "init", "other"]);
  await project.succeed(["up", "--yes", "--skip-preview", "--stack", "prod"]);
});
afterEach(() => project?.close());

test("`pulumi state move` takes both halves of a replacement along, as the model of the engine does", async () => {
  const exported = JSON.parse(await project.succeed(["stack", "export", "--stack", "prod"]));
  const { resources } = exported.deployment;
  const whole = resources.find(({ urn }: Json) => urn === urnOf("prod"));
  resources.push({ ...whole, id: "old-half", delete: true });
  const file = join(project.folder, "both.json");
  writeFileSync(file, JSON.stringify(exported));
  await project.succeed(["stack", "import", "--stack", "prod", "--file", file]);
  const urn = urnOf("prod");
  await project.succeed(["state", "move", "--source", "prod", "--dest", "other", "--yes", urn]);
  const after = async (stack: string): Promise<unknown[]> =>
    JSON.parse(await project.succeed(["stack", "export", "--stack", stack]))
      .deployment.resources.filter((each: Json) => each.urn === urnOf(stack))
      .map(({ id }: Json) => id);
  expect(await after("prod")).toEqual([]);
  expect(await after("other")).toEqual([whole.id, "old-half"]);
});
