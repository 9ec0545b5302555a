import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CheckedRecord } from "../../cli/rehearse/change-record.js";
import type { RehearsalFromEmpty } from "../../cli/rehearse/from-empty.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { pageCommands } from "../docs/page-commands.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { filesBelow, leakingFiles } from "../support/left-behind.js";
import { pageShell } from "../support/page-shell.js";
import { goneWith, markVariable } from "../support/processes.js";
import { certain, rehearsedProgram } from "../support/rehearsed-program.js";

let project: EmulatedProject;
let recordFile: string;

beforeAll(async () => {
  project = await emulatedProject(
    rehearsedProgram,
    {},
    { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "5", CONVERSATION_PUT: "replace" },
  );
  recordFile = join(project.folder, "change.json");
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

const check = async (environment: Readonly<Record<string, string>>, file = recordFile) => {
  const words = ["rehearse", "--check", file, "--json"];
  const { code, output, errors } = await project.tool(words, environment);
  if (output === "") throw new Error(errors);
  const checked: CheckedRecord = JSON.parse(output);
  return { code, ...checked };
};

/** What is certain of the service, one rule left out: that one is tried both ways. */
const certainBut = (rule: string): readonly string[] =>
  certain.filter((word, place) => ![word, certain[place + 1]].join().includes(`${rule}=`));

/** Somebody changes the channel. */
const renameByHand = async (): Promise<void> => {
  const [channel] = await project.objects("channels");
  const { id, created: _, modified: __, ...body } = channel ?? { id: "" };
  await project.byHand("PUT", `/channels/${id}`, { ...body, displayName: "by hand" });
};

const second = { DESCRIBE: "second" };

/** What names the numbers of calls: a check that finds other settings makes none. */
const stats = () => project.control("GET", "/stats");

const infra = "organization/shop/infra";

test("the guide's lines: a record holds until something changes, of which it names what it is; it holds no secret", async () => {
  const lines = pageCommands.filter(({ page }) => page === "docs/guides/rehearse.md");
  expect(lines).toHaveLength(4);
  const [propose = "", approve = ""] = lines
    .map(({ text }) => text)
    // These two are run in hostile-neighbour.
    .filter((text) => !/rehearse( --from-empty)?$/.test(text));
  await project.succeed(["stack", "init", "infra", "--no-select"]);
  await project.succeed(["up", "--yes", "--skip-preview", "--stack", "infra"], {
    ONLY_OUTPUT: "yes",
  });
  const state = project.state();
  const writes = await project.writes();
  const shell = pageShell(project);
  // A shell has made the file when the command begins, whether or not it was there before.
  const comment = join(project.folder, "comment.md");
  writeFileSync(comment, "of the last time");
  const foreign = join(project.folder, "foreign");
  const proposed = await shell(`${propose} 2> progress.log`, { REFER: infra, FOREIGN: foreign });
  expect(proposed).toMatchObject({ code: 0 });
  expect(readFileSync(comment, "utf8")).toContain("<!-- pulumi-conversation rehearse -->");
  const record = readFileSync(recordFile, "utf8");
  const { outcome, notes }: Rehearsal = JSON.parse(record).rehearsal;
  // The description is the output of a stack to which the program newly refers, a secret one.
  expect({ outcome, notes }).toMatchObject({ outcome: { passes: true, isIdempotent: true } });
  expect(outcome.steps).toMatchObject([
    { kind: "Authentication", name: "auth", operation: "update" },
  ]);
  expect(outcome.changes).toMatchObject([{ change: "changed", members: ["description"] }]);
  expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  expect(existsSync(foreign)).toBe(false);
  for (const secret of ["canary", project.environment.CONVERSATION_CLIENT_SECRET])
    expect(record).not.toContain(secret);
  expect(project.state()).toBe(state);
  expect(await project.writes()).toEqual(writes);

  // What a rehearsal or a check writes is no part of the program; other new files are named.
  const look = "npx pulumi-conversation rehearse --check change.json > checked.txt 2>&1";
  expect(await shell(look)).toMatchObject({ code: 0 });
  const moved = join(project.folder, "moved.json");
  renameSync(recordFile, moved);
  expect(await check(second, moved)).toMatchObject({
    ...{ code: 3, holds: false, differences: { program: ["checked.txt is new"] } },
  });
  renameSync(moved, recordFile);
  rmSync(join(project.folder, "checked.txt"));

  const before = await stats();
  const unmarked = { CONVERSATION_OWNERSHIP_MARK: "none" };
  const { code, output } = await project.tool(["rehearse", "--check", recordFile], unmarked);
  expect(code).toBe(3);
  expect(output).toMatch(
    / {2}- the service settings\n {6}conversation:own.* \(CONVERSATION_OWNERSHIP_MARK\) is none; it was description\nDo not run/,
  );
  expect(await stats()).toEqual(before);

  const source = join(project.folder, "index.js");
  appendFileSync(source, "// changed\n");
  const snapshot = await project.control("GET", "/snapshot");
  await renameByHand();
  expect(await check(second)).toMatchObject({
    ...{ code: 3, holds: false, changed: ["program", "account"] },
    differences: { program: ["index.js changed"] },
  });
  writeFileSync(source, rehearsedProgram);
  await project.control("PUT", "/snapshot", snapshot);

  const approved = await shell(approve, second);
  expect(approved.code, approved.output).toBe(0);
  expect(await project.objects("authentications")).toMatchObject([
    { description: expect.stringContaining("second") },
  ]);
  writeFileSync(recordFile, record.replace('"isIdempotent": true', '"isIdempotent": false'));
  expect((await check(second)).changed).toEqual(["state", "account", "outcome"]);
});

test("a stack that nobody knows is named, and what could not be copied", async () => {
  const { outcome, notes } = await rehearse({ REFER: "organization/shop/nowhere" });
  expect(outcome.refusals[0]?.reason).toContain('unknown stack "organization/shop/nowhere"');
  expect(notes.join()).toContain("outputs of the stack organization/shop/nowhere");
});

test("a deletion names everybody who uses something, also what is reached only later", async () => {
  const [app] = await project.objects("clientapplications");
  const [bot] = await project.objects("participants");
  const bots = [{ id: app?.id, participant: { id: bot?.id } }];
  const { id } = await project.byHand("POST", "/orchestrations", {
    name: "night 🌙",
    applications: { botConfiguration: { bots }, agentConfiguration: { agents: [{ id: app?.id }] } },
  });
  const { outcome, alternatives } = await rehearse(
    second,
    "--destroy",
    ...certainBut("deletionRule"),
  );
  expect(outcome.passes).toBe(false);
  expect(alternatives).toMatchObject([
    { switches: { deletionRule: "specification" }, passes: true },
  ]);
  const night = expect.objectContaining({ kind: "Orchestration", name: "night 🌙", id });
  expect(outcome.refusals).toMatchObject([
    { kind: "Participant", name: "bot", operation: "delete", inTheWay: [night] },
    { kind: "ClientApplication", name: "app", later: true, inTheWay: [night] },
  ]);
  expect(outcome.refusals[0]?.order.at(0)).toContain("by hand, because no stack manages it");
  expect(outcome.undeclared).toContainEqual(night);
  await project.byHand("DELETE", `/orchestrations/${id}`);
});

test("what reaches beyond the account is run if that is asked for; uncertain rules are tried both ways", async () => {
  const file = join(project.folder, "foreign");
  const environment = { ...second, WITHOUT: "channel", FOREIGN: file };
  const also = ["--also", "pulumi-nodejs:dynamic:Resource", "--", "--refresh"];
  const words = ["rehearse", "--json", ...certainBut("channelRule"), ...also];
  const run = await project.tool(words, environment);
  expect(run.code).toBe(4);
  const { outcome, alternatives }: Rehearsal = JSON.parse(run.output);
  expect(outcome).toMatchObject({ passes: true, isIdempotent: true, leftOut: [] });
  expect(existsSync(file)).toBe(true);
  expect(alternatives).toMatchObject([
    { switches: { channelRule: "any-client-application" }, passes: false },
  ]);
  expect(alternatives[0]?.differences[0]).toContain("The service refuses Channel web");
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
  const written = () => copies().flatMap((copy) => [...filesBelow(copy)]);
  const isWriting = () =>
    written().some(([name, { length }]) => name === "events.json" && length >= 1000);
  await expect.poll(isWriting).toBe(true);
  child.kill("SIGKILL");
  await exited;
  // Pulumi, which is ended a moment after it, may be about to write.
  await goneWith(mark);
  const [folder = "none"] = copies();
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(filesBelow(folder).size).toBeGreaterThan(2);
  // Node.js keeps the code of the program there, in which this password stands.
  const isCode = (name: string): boolean => name.startsWith("cache/node/");
  const leaking = leakingFiles(folder, ["canary-password"]);
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

test("a rehearsal from empty shows the time of making everything anew, and what nobody would make", async () => {
  await renameByHand();
  const before = await project.writes();
  await project.byHand("POST", "/channels", {
    type: "custom.hand",
    displayName: "h",
    icon: "aVZC",
  });
  const { code, output } = await project.tool(["rehearse", "--from-empty", "--json"], {
    ...second,
    WITHOUT: "bot",
  });
  const rebuilt: RehearsalFromEmpty = JSON.parse(output);
  expect(code).toBe(4);
  expect(rebuilt.outcome).toMatchObject({ passes: true, objects: 3, refusals: [] });
  expect(rebuilt.outcome.totalSeconds).toBeGreaterThan(0);
  expect(rebuilt.lost.map(({ kind, members }) => [kind, members])).toEqual([
    ["Participant", undefined],
    ["Channel", ["displayName"]],
    ["Channel", undefined],
  ]);
  expect((await project.writes()).length).toBe(before.length + 1);
});

test("what reaches beyond the account is not deleted, and keeps nothing else from being deleted", async () => {
  const file = join(project.folder, "beyond");
  await project.succeed(["up", "--yes", "--skip-preview"], { ...second, FOREIGN: file });
  for (const words of [["--destroy"], []]) {
    const { outcome } = await rehearse({ ONLY_OUTPUT: "yes" }, ...certain, ...words);
    expect(outcome).toMatchObject({ passes: true });
    expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
    expect(outcome.changes.map(({ change, kind }) => `${change} ${kind}`).sort()).toEqual([
      "deleted Authentication",
      "deleted Channel",
      "deleted ClientApplication",
      "deleted Participant",
    ]);
  }
  expect(readFileSync(file, "utf8")).toBe("made");
});
