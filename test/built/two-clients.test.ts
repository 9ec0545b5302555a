import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DriftResult } from "../../cli/drift/drift.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { scopes } from "../../provider/service/operations.js";
import { pageCommands } from "../docs/page-commands.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { pageShell } from "../support/page-shell.js";
import { rehearsedProgram } from "../support/rehearsed-program.js";

let project: EmulatedProject;
let quiet: Server;
let reader: Readonly<Record<string, string>>;
/** The same, at a token URL that does not tell what it grants. */
let untold: Readonly<Record<string, string>>;

/** The token URL of an emulator without what it tells of scopes. */
const quietTokens = (tokenUrl: string): Server =>
  createServer(async (request, response) => {
    const answer = await fetch(tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: await buffer(request),
    });
    const { scope: _, ...grant }: Record<string, unknown> = JSON.parse(await answer.text());
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(JSON.stringify(grant));
  });

beforeAll(async () => {
  project = await emulatedProject(
    rehearsedProgram,
    {},
    { CONVERSATION_PLAN: "enterprise", CONVERSATION_PUT: "replace" },
  );
  await project.succeed(["up", "--yes", "--skip-preview"], { DESCRIBE: "first" });
  const clientSecret = "secret-of-the-reader";
  await project.control("POST", "/clients", {
    ...{ clientId: "reader", clientSecret },
    scopes: [scopes.read, scopes.interactionRead],
  });
  const own = { CONVERSATION_CLIENT_ID: "reader", CONVERSATION_CLIENT_SECRET: clientSecret };
  quiet = quietTokens(project.emulator.tokenUrl);
  reader = { ...own, DESCRIBE: "second" };
  untold = { ...reader, CONVERSATION_TOKEN_URL: await listenHere(quiet) };
});

afterAll(async () => {
  await project?.close();
  if (quiet) await closeServer(quiet);
});

const json = async (args: readonly string[], environment: Readonly<Record<string, string>>) => {
  const { code, output, errors } = await project.tool([...args, "--json"], environment);
  if (output === "") throw new Error(errors);
  return { code, said: JSON.parse(output) };
};

const rehearse = async (
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Rehearsal & { code: number }> => {
  const { code, said } = await json(["rehearse", ...args], environment);
  return { code, ...said };
};

const assumed =
  /^The client in these settings may only read.*To specify its scopes, use --as-scopes\.$/;

test("a client that may only read rehearses for another one, with the scopes of the service", async () => {
  const { code, outcome, notes } = await rehearse({ ...untold, WITHOUT: "bot" });
  expect(outcome.refusals).toEqual([]);
  expect(outcome.steps.map(({ operation, kind }) => [operation, kind])).toEqual([
    ["update", "Authentication"],
    ["delete", "Participant"],
  ]);
  expect(notes[0]).toMatch(assumed);
  expect(
    notes.filter((note) =>
      /^The copy contains only the authentications in the stack's state/.test(note),
    ),
  ).toHaveLength(1);
  expect(code).toBe(0);
});

test("with the scopes of the client that deploys it says what that one will be refused", async () => {
  const refused = await rehearse(untold, "--as-scopes", "read,interaction.manage");
  expect(refused).toMatchObject({ code: 3, outcome: { passes: false } });
  expect(refused.outcome.refusals).toMatchObject([{ kind: "Authentication", operation: "update" }]);
  expect(refused.outcome.refusals[0]?.reason).toContain(scopes.manage);
  const { code, output } = await project.pulumi(["up", "--yes", "--skip-preview"], reader);
  expect(code).not.toBe(0);
  expect(output).toContain(scopes.manage);
});

test("drift says which kind could not be read, and goes on with the others", async () => {
  const { code, said } = await json(["drift"], reader);
  expect(code).toBe(6);
  const drift: DriftResult = said;
  expect(drift).toMatchObject({ drift: false, deleted: [], changed: [] });
  expect(drift.unread).toMatchObject([{ kind: "Authentication" }]);
  expect(drift.compared).toBe(3);
  const text = await project.tool(["drift"], reader);
  expect(text.output).toContain("3 objects of shop/prod compared; 1 kind unreadable");
});

test.each([
  ["explain"],
  ["orphans"],
  ["import", "--skip-managed"],
  ["export", "--out", "exported"],
])(
  "%s takes a client that may only read, and is refused the authentications alone",
  async (...args) => {
    const before = (await project.log()).length;
    const { output, errors } = await project.tool(args, reader);
    expect(output + errors).toMatch(/authentication/i);
    const calls = (await project.log()).slice(before);
    const named = (status: number) =>
      calls
        .filter((call) => call.status < 400 === status < 400)
        .map(({ method, template }) => `${method} ${template}`);
    expect([...new Set(named(403))]).toEqual(["GET /authentications"]);
    expect(named(200)).toEqual(expect.arrayContaining(["GET /channels", "GET /participants"]));
    expect(named(200).filter((name) => !name.startsWith("GET "))).toEqual([]);
  },
);

test("the guide's line names the scopes of the client that deploys, so that nothing is assumed", async () => {
  const shell = pageShell(project);
  const lines = pageCommands.filter(({ page }) => page === "docs/guides/pipelines.md");
  expect(lines).toHaveLength(1);
  for (const { text } of lines) expect(await shell(text, reader)).toMatchObject({ code: 0 });
  const comment = readFileSync(join(project.folder, "comment.md"), "utf8");
  expect(comment).toContain("will succeed");
  expect(comment).not.toContain("assumes");
});
