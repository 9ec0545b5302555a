import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";
import { smallAccount } from "../support/small-account.js";

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(smallAccount, { switches: { secrets: "echo" } });
  await project.succeed(["up", "--yes", "--skip-preview"]);
});

afterAll(() => project?.close());

const drift = async () => {
  const { code, output, errors } = await project.tool(["drift", "--json"]);
  return { code, errors, ...(output ? JSON.parse(output) : {}) };
};

test("nothing differs after up, and what others do is found; nothing is written", async () => {
  const before = { state: project.state(), writes: await project.writes() };
  expect(await drift()).toMatchObject({ code: 0, drift: false, compared: 6, uncheckable: [] });
  expect({ state: project.state(), writes: await project.writes() }).toEqual(before);

  const [channel] = await project.objects("channels");
  if (!channel) throw new Error("no channel");
  const { id, created: _, modified: __, ...body } = channel;
  await project.byHand("PUT", `/channels/${id}`, { ...body, displayName: "By hand" });
  const [account] = await project.objects("accounts");
  await project.byHand("DELETE", `/accounts/${account?.id}`);
  const made = await project.byHand("POST", "/channels", {
    ...body,
    type: "custom.hand",
    description: "mine",
  });

  const found = await drift();
  expect(found).toMatchObject({
    code: 2,
    changed: [{ id, changes: [{ path: "displayName", state: '"Web"', live: '"By hand"' }] }],
    deleted: [{ id: account?.id, kind: "Account" }],
    unmanaged: [{ id: made.id, standing: "foreign" }],
  });
  expect(JSON.stringify(found)).not.toContain("a-secret");
  const markdown = await project.tool(["drift", "--markdown"]);
  expect(markdown.code).toBe(2);
  expect(markdown.output.split("\n")[0]).toBe("<!-- pulumi-conversation drift shop/prod -->");
  const only = await project.tool(["drift", "--managed-only"]);
  expect(only.output).not.toContain(String(made.id));

  await project.succeed(["refresh", "--yes", "--skip-preview"]);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  await project.byHand("DELETE", `/channels/${made.id}`);
  expect(await drift()).toMatchObject({ code: 0, drift: false });
});

test("a stack that has made nothing has no drift but what is in no stack", async () => {
  await project.succeed(["stack", "init", "empty"]);
  const { code, output } = await project.tool(["drift", "--json", "--stack", "empty"]);
  const others = JSON.parse(output).otherStacks;
  expect({ code, others: others.length }).toEqual({ code: 0, others: 6 });
});
