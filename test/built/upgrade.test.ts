import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/**
 * State files as each release wrote them, with the program and what the service held. A state file
 * holds pointers into the package for years, so later releases must go on with it.
 */
const fixtures = join(__dirname, "..", "fixtures");
const read = (release: string, file: string): string =>
  readFileSync(join(fixtures, release, file), "utf8");

let project: EmulatedProject;

afterEach(() => project?.close());

/** Restores the objects, with the clients of this project.emulator. */
const restoreService = async (release: string): Promise<void> => {
  const current = (await project.control("GET", "/snapshot")) as object;
  const objects = JSON.parse(read(release, "service.json"));
  await project.control("PUT", "/snapshot", { ...current, objects });
};

test.each(readdirSync(fixtures))(
  "state written by %s: preview and refresh are quiet, destroy works",
  async (release) => {
    project = await emulatedProject(read(release, "program.js"));
    await restoreService(release);
    const state = join(project.folder, "state.json");
    writeFileSync(state, read(release, "state.json"));
    await project.succeed(["stack", "import", "--file", state]);
    await project.succeed(["preview", "--expect-no-changes"]);
    await project.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    // From here on the inputs hold the pointer of this release, the outputs that of the earlier one.
    await project.succeed(["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    await project.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(await project.objects()).toEqual([]);
  },
);
