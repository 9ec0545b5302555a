import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";
import { exampleProgram } from "../support/small-programs.js";

type Json = Record<string, unknown>;

let emulator: Emulator;
let project: CliProject;

beforeEach(async () => {
  emulator = await startEmulator();
  project = await cliProject(exampleProgram, emulatorEnvironment(emulator));
});

afterEach(async () => {
  project?.remove();
  await emulator?.close();
});

const run = async (...args: string[]): Promise<string> => {
  const { code, output } = await project.pulumi(args);
  expect(code === 0 ? "" : output).toBe("");
  return output;
};

const ids = async (): Promise<unknown[]> => {
  const snapshot = (await (await fetch(`${emulator.controlUrl}/snapshot`)).json()) as Json;
  return Object.values(snapshot.objects as Record<string, Json[]>)
    .flat()
    .map(({ id }) => id)
    .sort();
};

interface InState {
  readonly urn: string;
  readonly type: string;
}

const urns = (): readonly string[] =>
  (JSON.parse(project.state()).checkpoint.latest.resources as InState[])
    .filter(({ type }) => type.includes(":dynamic/"))
    .map(({ urn }) => urn);

test("every object stays when all resources are tainted, the ownership among them", async () => {
  await run("up", "--yes", "--skip-preview");
  const before = await ids();
  expect(before).toHaveLength(6);
  for (const urn of urns()) await run("state", "taint", urn, "--yes");
  await run("up", "--yes", "--skip-preview");
  expect(await ids()).toEqual(before);
  await run("preview", "--expect-no-changes");
});

test("every object stays under --replace of everything, the provider among it", async () => {
  await run("up", "--yes", "--skip-preview");
  const before = await ids();
  await run("up", "--yes", "--skip-preview", "--replace", "**");
  expect(await ids()).toEqual(before);
});
