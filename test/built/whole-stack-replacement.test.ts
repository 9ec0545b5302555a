import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { exampleProgram } from "../support/small-programs.js";

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(exampleProgram);
});

afterAll(() => project?.close());

const ids = async (): Promise<string[]> => (await project.objects()).map(({ id }) => id).sort();

interface InState {
  readonly urn: string;
  readonly type: string;
}

const urns = (): readonly string[] =>
  (JSON.parse(project.state()).checkpoint.latest.resources as InState[])
    .filter(({ type }) => type.includes(":dynamic/"))
    .map(({ urn }) => urn);

test("every object stays when all resources are tainted, the ownership among them, and under --replace of everything, the provider among it", async () => {
  await project.succeed(["up", "--yes", "--skip-preview"]);
  const before = await ids();
  expect(before).toHaveLength(6);
  await project.succeed(["state", "taint", ...urns(), "--yes"]);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(await ids()).toEqual(before);
  await project.succeed(["up", "--yes", "--skip-preview", "--replace", "**"]);
  expect(await ids()).toEqual(before);
});

test("without pulumi on PATH a replacement of everything deletes nothing, and destroy works", async () => {
  const before = await ids();
  const PATH = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const refused = await project.pulumi(["up", "--yes", "--skip-preview", "--replace", "**"], PATH);
  expect(refused.code).not.toBe(0);
  expect(await ids()).toEqual(before);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  expect(await ids()).toEqual(before);
  await project.succeed(["destroy", "--yes", "--skip-preview"], PATH);
  expect(await ids()).toEqual([]);
});
