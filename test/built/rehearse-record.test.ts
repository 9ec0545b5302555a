import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CheckedRecord } from "../../cli/rehearse/change-record.js";
import type { RehearsalFromEmpty } from "../../cli/rehearse/from-empty.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { pageCommands } from "../docs/page-commands.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { pageShell } from "../support/page-shell.js";
import { rehearsedProgram } from "../support/rehearsed-program.js";

let project: EmulatedProject;
let recordFile: string;

beforeAll(async () => {
  project = await emulatedProject(
    rehearsedProgram,
    {},
    { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "5" },
  );
  recordFile = join(project.folder, "record.json");
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

const check = async (environment: Readonly<Record<string, string>>) => {
  const { code, output, errors } = await project.tool(
    ["rehearse", "--check", recordFile, "--json"],
    environment,
  );
  if (output === "") throw new Error(errors);
  const checked: CheckedRecord = JSON.parse(output);
  return { code, ...checked };
};

const second = { DESCRIBE: "second" };
const third = { DESCRIBE: "third" };

test("a record holds as long as nothing changes, and names what did; it holds no secret", async () => {
  const state = project.state();
  const writes = await project.writes();
  const { outcome } = await rehearse(second, "--record", recordFile);
  expect(outcome).toMatchObject({ passes: true, settled: true });
  expect(outcome.steps).toMatchObject([
    { kind: "Authentication", name: "auth", operation: "update" },
  ]);
  expect(outcome.changes).toMatchObject([{ change: "changed", members: ["description"] }]);
  expect(await check(second)).toMatchObject({ code: 0, holds: true, changed: [] });
  expect(readFileSync(recordFile, "utf8")).not.toContain("canary-password");
  expect(project.state()).toBe(state);
  expect(await project.writes()).toEqual(writes);

  const source = join(project.folder, "index.js");
  writeFileSync(source, `${rehearsedProgram}\n// changed\n`);
  const [channel] = await project.objects("channels");
  const { id, created: _, modified: __, ...body } = channel ?? { id: "" };
  await project.byHand("PUT", `/channels/${id}`, { ...body, displayName: "by hand" });
  expect(await check(second)).toMatchObject({
    ...{ code: 3, holds: false, changed: ["program", "account"] },
  });
  writeFileSync(source, rehearsedProgram);

  await project.succeed(["up", "--yes", "--skip-preview"], second);
  const kept = readFileSync(recordFile, "utf8");
  writeFileSync(recordFile, kept.replace('"settled": true', '"settled": false'));
  expect((await check(second)).changed).toEqual(["state", "account", "outcome"]);
});

test("a setting that decides what a run does is named when it is another one; secrets are not in it", async () => {
  await rehearse(second, "--record", recordFile);
  const record = readFileSync(recordFile, "utf8");
  expect(record).not.toContain(project.environment.CONVERSATION_CLIENT_SECRET);
  const before = await project.control("GET", "/stats");
  const others = [
    [
      "CONVERSATION_PUT",
      "replace",
      /^conversation:put \(CONVERSATION_PUT\) is replace, and was not set$/,
    ],
    [
      "CONVERSATION_CLIENT_ID",
      "another",
      /clientId \(CONVERSATION_CLIENT_ID\) is another, and was .*--as-scopes/,
    ],
    [
      "CONVERSATION_TOKEN_URL",
      "https://x.example.com/t",
      /tokenUrl .* is https:\/\/x\.example\.com\/t, and was http/,
    ],
    [
      "CONVERSATION_BASE_URL",
      "https://x.example.com/v3",
      /baseUrl .* is https:\/\/x\.example\.com\/v3, and was http/,
    ],
    ["CONVERSATION_OWNERSHIP_MARK", "none", /ownershipMark .* is none, and was description$/],
  ] as const;
  for (const [name, value, said] of others) {
    const checked = await check({ ...second, [name]: value });
    expect(checked).toMatchObject({ code: 3, holds: false, changed: ["settings"] });
    expect(checked.differences.settings).toEqual([expect.stringMatching(said)]);
  }
  expect(await project.control("GET", "/stats")).toEqual(before);
  const { output } = await project.tool(["rehearse", "--check", recordFile], {
    ...second,
    CONVERSATION_OWNERSHIP_MARK: "none",
  });
  expect(output).toContain("  - the settings of the service\n      conversation:own");
  expect(await check(second)).toMatchObject({ code: 0, holds: true });
});

test("what is no record, or of another stack, is told from one that does not hold", async () => {
  writeFileSync(join(project.folder, "other.json"), "{}");
  const none = await project.tool(["rehearse", "--check", join(project.folder, "other.json")]);
  expect(none).toMatchObject({ code: 2, output: "" });
  expect(none.errors).toContain("is no change record. Make one with: npx pulumi-conversation");
  const gone = await project.tool(["rehearse", "--check", join(project.folder, "gone.json")]);
  expect(gone.code).toBe(2);
});

test("a deletion names everybody who uses something, also what is reached only later", async () => {
  const [app] = await project.objects("clientapplications");
  const [bot] = await project.objects("participants");
  const bots = [{ id: app?.id, participant: { id: bot?.id } }];
  const { id } = await project.byHand("POST", "/orchestrations", {
    name: "night 🌙",
    applications: { botConfiguration: { bots }, agentConfiguration: { agents: [{ id: app?.id }] } },
  });
  const { outcome, otherReadings } = await rehearse(second, "--destroy");
  expect(outcome.passes).toBe(false);
  expect(otherReadings).toMatchObject([
    { switches: { deletionRule: "specification" }, passes: true },
  ]);
  const night = expect.objectContaining({ kind: "Orchestration", name: "night 🌙", id });
  expect(outcome.refusals).toMatchObject([
    { kind: "Participant", name: "bot", operation: "delete", inTheWay: [night] },
    { kind: "ClientApplication", name: "app", later: true, inTheWay: [night] },
  ]);
  expect(outcome.refusals[0]?.order.at(0)).toContain("by hand, as no stack manages it");
  expect(outcome.undeclared).toContainEqual(night);
  const { code, output } = await project.pulumi(["destroy", "--yes", "--skip-preview"], second);
  expect(code).not.toBe(0);
  expect(output).toContain(String(id));
  await project.succeed(["up", "--yes", "--skip-preview"], second);
  await project.byHand("DELETE", `/orchestrations/${id}`);
});

test("where the service may read its rules otherwise, both ways are told", async () => {
  const run = await project.tool(["rehearse", "--json"], { ...second, WITHOUT: "channel" });
  expect(run.code).toBe(4);
  const { outcome, otherReadings }: Rehearsal = JSON.parse(run.output);
  expect(outcome.passes).toBe(true);
  expect(otherReadings).toMatchObject([
    { switches: { channelRule: "any-client-application" }, passes: false },
  ]);
  expect(otherReadings[0]?.differences[0]).toContain("Channel web is refused");
  const args = ["rehearse", "--switch", "channelRule=account"];
  expect(await project.tool(args, { ...second, WITHOUT: "channel" })).toMatchObject({ code: 0 });
});

test("what reaches beyond the account is not run, unless it is asked for", async () => {
  const file = join(project.folder, "foreign");
  await project.succeed(["up", "--yes", "--skip-preview", "--refresh"], second);
  const { outcome } = await rehearse({ ...second, FOREIGN: file }, "--", "--refresh");
  expect(outcome).toMatchObject({ passes: true, settled: true });
  expect(outcome.leftOut).toEqual([expect.stringMatching(/:Resource::elsewhere$/)]);
  expect(existsSync(file)).toBe(false);
  const also = ["--also", "pulumi-nodejs:dynamic:Resource"];
  expect((await rehearse({ ...second, FOREIGN: file }, ...also)).outcome.leftOut).toEqual([]);
  expect(existsSync(file)).toBe(true);
});

test("the outputs of a stack to which the program newly refers are there, secret ones too", async () => {
  await project.succeed(["stack", "init", "infra", "--no-select"]);
  const infra = ["--stack", "infra"];
  await project.succeed(["up", "--yes", "--skip-preview", ...infra], { ONLY_OUTPUT: "yes" });
  const { outcome } = await rehearse({ REFER: "organization/shop/infra" });
  expect(outcome).toMatchObject({ passes: true, settled: true });
  expect(outcome.changes).toMatchObject([{ change: "changed", members: ["description"] }]);
  const unknown = await rehearse({ REFER: "organization/shop/nowhere" });
  expect(unknown.outcome.refusals[0]?.reason).toContain(
    'unknown stack "organization/shop/nowhere"',
  );
  expect(unknown.notes.join()).toContain("outputs of the stack organization/shop/nowhere");
});

/** Not where other rehearsals remove what killed ones have left. */
const temporary = () => join(project.folder, "tmp");

const copies = (): readonly string[] =>
  readdirSync(temporary()).filter((name) => name.startsWith("pulumi-conversation-rehearsal-"));

const startRehearsal = () => project.startTool(["rehearse"], { ...second, TMPDIR: temporary() });

test("a rehearsal that is killed leaves no secret that anybody can read", async () => {
  mkdirSync(temporary());
  const before = copies();
  const child = startRehearsal();
  const exited = once(child, "exit");
  const ours = () => copies().find((name) => !before.includes(name));
  const events = () => join(temporary(), ours() ?? "none-yet", "events.json");
  while (!existsSync(events()) || readFileSync(events(), "utf8").length < 1000) await pause(20);
  child.kill("SIGKILL");
  await exited;
  const folder = join(temporary(), ours() ?? "");
  expect(statSync(folder).mode & 0o077).toBe(0);
  const texts = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  expect(texts.length).toBeGreaterThan(2);
  for (const text of texts) expect(text).not.toContain("canary-password");
  // Pulumi, which is ended a moment after it, may be about to write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

test("a rehearsal that is interrupted takes its copy away, and says that nothing was written", async () => {
  const before = copies();
  const child = startRehearsal();
  const exited = once(child, "exit");
  let said = "";
  for await (const chunk of child.stderr) {
    said += chunk;
    if (said.includes("Rehearsing") && !child.killed) child.kill("SIGINT");
  }
  expect((await exited)[0]).toBe(130);
  expect(said).toContain("Interrupted. Nothing was written, and nothing is left behind.");
  expect(copies().filter((name) => !before.includes(name)).length).toBe(0);
});

test("the guide's lines, one after the other in a shell, do what it says", async () => {
  const shell = pageShell(project);
  const lines = pageCommands.filter(({ page }) => page === "docs/guides/rehearse.md");
  expect(lines).toHaveLength(4);
  for (const { text } of lines) {
    const { code, output } = await shell(text, third);
    expect([0, 4], `${text}\n${output}`).toContain(code);
  }
  const comment = readFileSync(join(project.folder, "comment.md"), "utf8");
  expect(comment).toContain("<!-- pulumi-conversation rehearse -->");
  expect(await project.objects("authentications")).toMatchObject([
    { description: expect.stringContaining("third") },
  ]);
});

test("what a rehearsal or a check writes is no part of the program; other new files are named", async () => {
  const shell = pageShell(project);
  const run = (text: string) => shell(`npx pulumi-conversation ${text}`, third);
  // A shell has made the file when the command begins, whether or not it was there before.
  writeFileSync(join(project.folder, "report.json"), "of the last time");
  mkdirSync(join(project.folder, "kept"));
  await run("rehearse --json --record kept/record.json > report.json 2> progress.log");
  expect(await run("rehearse --check kept/record.json")).toMatchObject({ code: 0 });
  expect(await run("rehearse --check kept/record.json > checked.txt 2>&1")).toMatchObject({
    code: 0,
  });
  renameSync(join(project.folder, "kept/record.json"), join(project.folder, "moved.json"));
  rmSync(join(project.folder, "report.json"));
  const { code, output } = await run("rehearse --check moved.json --json 2> check.log");
  expect(code).toBe(3);
  expect(JSON.parse(output).differences.program).toEqual(["checked.txt is new"]);
  rmSync(join(project.folder, "checked.txt"));
  rmSync(join(project.folder, "check.log"));
  appendFileSync(join(project.folder, "index.js"), "// more\n");
  const refused = await run("rehearse --check moved.json");
  expect(refused.output).toContain("  - the program\n      index.js changed\nDo not run");
  writeFileSync(join(project.folder, "index.js"), rehearsedProgram);
  expect(await run("rehearse --check moved.json")).toMatchObject({ code: 0 });
});

test("a rehearsal from empty shows the time of making everything anew, and what nobody would make", async () => {
  const [own] = await project.objects("channels");
  const { id, created: _, modified: __, ...body } = own ?? { id: "" };
  await project.byHand("PUT", `/channels/${id}`, { ...body, displayName: "by hand" });
  const before = await project.writes();
  await project.byHand("POST", "/channels", {
    type: "custom.hand",
    displayName: "h",
    icon: "aVZC",
  });
  const { code, output } = await project.tool(["rehearse", "--from-empty", "--json"], {
    ...third,
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
