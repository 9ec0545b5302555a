import { afterAll, beforeAll, expect, test } from "vitest";
import type { DriftResult } from "../../cli/drift/drift.js";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { scopes } from "../../provider/service/operations.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { rehearsedProgram } from "../support/rehearsed-program.js";

let project: EmulatedProject;
let reader: Readonly<Record<string, string>>;

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
  reader = { ...own, DESCRIBE: "second" };
});

afterAll(() => project?.close());

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

const assumed = /^The client may only read, .* assumes that another client deploys/;

test("a client that may only read rehearses for another one, with the scopes of the service", async () => {
  const { code, outcome, notes } = await rehearse({ ...reader, WITHOUT: "bot" });
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

test.each([["explain"], ["orphans"], ["import"], ["export", "--out", "exported"]])(
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
