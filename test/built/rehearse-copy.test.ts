import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { pageCommands } from "../docs/page-commands.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { filesBelow, leakingFiles } from "../support/left-behind.js";
import { pageShell } from "../support/page-shell.js";
import { goneWith, markVariable } from "../support/processes.js";
import { rehearsedProgram } from "../support/rehearsed-program.js";

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(
    rehearsedProgram,
    {},
    { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "5", CONVERSATION_PUT: "replace" },
  );
  await project.succeed(["config", "set", "--secret", "shop:line", "canary-config"]);
  await project.succeed(["up", "--yes", "--skip-preview"], { DESCRIBE: "first" });
});

afterAll(() => project?.close());

const rehearse = async (
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Rehearsal> => {
  const { output, errors } = await project.tool(["rehearse", "--json", ...args], environment);
  if (output === "") throw new Error(errors);
  return JSON.parse(output);
};

const second = { DESCRIBE: "second" };

const infra = "organization/shop/infra";

/** The files of the project that a rehearsal must leave alone. */
const ownFiles = (): readonly (readonly [string, string])[] =>
  [...filesBelow(project.folder)]
    .filter(([name]) => !/^(home|tmp-|node_modules)/.test(name))
    .map(([name, bytes]) => [name, String(bytes)]);

test("the guide's line: what a secret output of another stack changes, and nothing is written", async () => {
  const lines = pageCommands.filter(({ page }) => page === "docs/guides/rehearse.md");
  expect(lines).toHaveLength(1);
  await project.succeed(["stack", "init", "infra", "--no-select"]);
  await project.succeed(["up", "--yes", "--skip-preview", "--stack", "infra"], {
    ONLY_OUTPUT: "yes",
  });
  const before = { files: ownFiles(), writes: await project.writes() };
  const foreign = join(project.folder, "foreign");
  const seen = join(project.folder, "tmp-seen");
  const report = join(project.folder, "tmp-report");
  const variables = { REFER: infra, FOREIGN: foreign, SEEN: seen };
  const comment = join(project.folder, "tmp-comment");
  const [line] = lines.map(({ text }) => text);
  for (const end of [`--json > ${report}`, `> ${comment}`])
    expect(await pageShell(project)(`${line} ${end}`, variables)).toMatchObject({ code: 0 });
  // The program prints what it sees: the secrets of its configuration, and that this is a rehearsal.
  expect(readFileSync(seen, "utf8")).toBe("canary-config true");
  const text = readFileSync(comment, "utf8");
  expect(text).toMatch(/^update +Authentication +description +auth$/m);
  expect(text).not.toContain("canary");
  const { outcome, notes }: Rehearsal = JSON.parse(readFileSync(report, "utf8"));
  expect(outcome).toMatchObject({ passes: true, refusals: [], objects: 4 });
  // One call in four seconds and five at once: the forecast of this plan.
  expect(outcome.totalSeconds).toBeGreaterThan(0);
  expect(outcome.steps).toMatchObject([
    { kind: "Authentication", name: "auth", operation: "update", properties: ["description"] },
  ]);
  expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  expect(existsSync(foreign)).toBe(false);
  expect(JSON.stringify({ outcome, notes })).not.toContain("canary");
  expect({ files: ownFiles(), writes: await project.writes() }).toEqual(before);
});

test("a stack that nobody knows is named", async () => {
  const { outcome } = await rehearse({ REFER: "organization/shop/nowhere" });
  expect(outcome.refusals[0]?.reason).toContain('unknown stack "organization/shop/nowhere"');
});

/** Started where no other rehearsal removes what a killed one has left, nor leaves anything. */
const startRehearsal = () => {
  const TMPDIR = mkdtempSync(join(project.folder, "tmp-"));
  const mark = randomUUID();
  const child = project.startTool(["rehearse"], { ...second, TMPDIR, [markVariable]: mark });
  const copies = () =>
    readdirSync(TMPDIR)
      .filter((name) => name.startsWith("pulumi-conversation-rehearsal-"))
      .map((name) => join(TMPDIR, name));
  return { child, copies, exited: once(child, "exit"), mark };
};

test("a rehearsal that is killed leaves no secret that anybody can read", async () => {
  const { child, copies, exited, mark } = startRehearsal();
  const names = () => copies().flatMap((copy) => [...filesBelow(copy).keys()]);
  // The provider has compiled its code: the program's resources are being registered.
  await expect.poll(() => names().some((name) => name.startsWith("cache/node/"))).toBe(true);
  await expect.poll(() => names().some((name) => name.includes("/locks/"))).toBe(true);
  child.kill("SIGKILL");
  await exited;
  // Pulumi, which is ended a moment after it, may be about to write.
  await goneWith(mark);
  const [folder = "none"] = copies();
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(filesBelow(folder).size).toBeGreaterThan(2);
  // Node.js keeps the code of the program there, in which this password stands.
  const isCode = (name: string): boolean => name.startsWith("cache/node/");
  const leaking = leakingFiles(folder, ["canary-password", "canary-word", "canary-config"]);
  expect(leaking.filter((name) => !isCode(name))).toEqual([]);
});

test("a rehearsal that is interrupted takes its copy away, and says that nothing was written", async () => {
  const { child, copies, exited } = startRehearsal();
  let said = "";
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes("Rehearsing") && !child.killed) child.kill("SIGINT");
  }
  expect((await exited)[0]).toBe(130);
  expect(said).toContain("Interrupted. Nothing was written or left behind.");
  expect(copies()).toEqual([]);
});

test("a deletion names everybody who uses something; what reaches beyond the account is not deleted", async () => {
  const file = join(project.folder, "tmp-beyond");
  await project.succeed(["up", "--yes", "--skip-preview"], { ...second, FOREIGN: file });
  const [app] = await project.objects("clientapplications");
  const [bot] = await project.objects("participants");
  const bots = [{ id: app?.id, participant: { id: bot?.id } }];
  const { id } = await project.byHand("POST", "/orchestrations", {
    name: "night 🌙",
    applications: { botConfiguration: { bots }, agentConfiguration: { agents: [{ id: app?.id }] } },
  });
  const { outcome: destroyed } = await rehearse(second, "--destroy");
  expect(destroyed.passes).toBe(false);
  expect(destroyed.refusals).toMatchObject([
    {
      kind: "Participant",
      name: "bot",
      operation: "delete",
      reason: expect.stringContaining(String(id)),
    },
  ]);
  expect(destroyed.undeclared).toContainEqual(
    expect.objectContaining({ kind: "Orchestration", name: "night 🌙", id }),
  );
  expect(destroyed.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  expect(readFileSync(file, "utf8")).toBe("made");
});
