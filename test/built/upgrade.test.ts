import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterEach, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

/**
 * State files as each release wrote them, with the program and what the service held. A state file
 * holds pointers into the package for years, so later releases must go on with it.
 */
const fixtures = join(__dirname, "..", "fixtures");
const read = (release: string, file: string): string =>
  readFileSync(join(fixtures, release, file), "utf8");

let emulator: Emulator;
let project: CliProject;

afterEach(async () => {
  project?.remove();
  await emulator?.close();
});

const open = async (release: string): Promise<void> => {
  emulator = await startEmulator();
  project = await cliProject(read(release, "program.js"), emulatorEnvironment(emulator));
};

const run = async (args: readonly string[]): Promise<void> => {
  const { code, output } = await project.pulumi(args);
  expect(code === 0 ? "" : output).toBe("");
};

const objects = async (): Promise<Record<string, unknown[]>> => {
  const document = (await (await fetch(`${emulator.controlUrl}/snapshot`)).json()) as {
    objects: Record<string, unknown[]>;
  };
  return document.objects;
};

/** Restores the objects, with the clients of this emulator. */
const restoreService = async (release: string): Promise<void> => {
  const current = (await (await fetch(`${emulator.controlUrl}/snapshot`)).json()) as object;
  const body = JSON.stringify({ ...current, objects: JSON.parse(read(release, "service.json")) });
  const response = await fetch(`${emulator.controlUrl}/snapshot`, { method: "PUT", body });
  expect(response.status).toBe(204);
};

test.each(readdirSync(fixtures))(
  "state written by %s: preview and refresh are quiet, destroy works",
  async (release) => {
    await open(release);
    await restoreService(release);
    const state = join(project.folder, "state.json");
    writeFileSync(state, read(release, "state.json"));
    await run(["stack", "import", "--file", state]);
    await run(["preview", "--expect-no-changes"]);
    await run(["refresh", "--yes", "--expect-no-changes"]);
    await run(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(await objects()).flat()).toEqual([]);
  },
);
