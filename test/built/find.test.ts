import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

/** FIND: what is looked for; a second stack declares nothing else. */
const program = `
const c = require("pulumi-conversation");
if (process.env.FIND) {
  const [kind, where] = JSON.parse(process.env.FIND);
  const found = c[kind].find(where);
  exports.id = found.id;
  exports.created = found.created;
} else {
  const web = new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
  for (const name of ["a", "b"]) new c.ClientApplication(name, { name: name + " 🤖", roles: [{ name: "customer", version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com" }] });
  exports.id = web.id;
}
`;

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(program);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  await project.succeed(["stack", "init", "other"]);
});
afterAll(() => project?.close());

const find = (kind: string, where: object) => ({ FIND: JSON.stringify([kind, where]) });

test("an object is found by what people know it by, and is not managed", async () => {
  const wanted = (await project.succeed(["stack", "output", "id", "--stack", "prod"])).trim();
  const output = await project.succeed(
    ["up", "--yes", "--skip-preview"],
    find("Channel", { type: "custom.web" }),
  );
  expect(output).toContain(wanted);
  await project.succeed(
    ["preview", "--expect-no-changes"],
    find("Channel", { type: "custom.web" }),
  );
  const bot = await project.succeed(
    ["up", "--yes", "--skip-preview"],
    find("ClientApplication", { name: "b 🤖" }),
  );
  expect(bot).toMatch(/id *: "[\w-]{36}"/);
  await project.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(await project.succeed(["preview", "--stack", "prod", "--refresh"])).not.toMatch(/delete/);
});

test.each([
  [
    "Channel",
    { type: "custom.wob" },
    /no channel has the type "custom\.wob"; the tenant has 1 in all/,
  ],
  ["Channel", {}, /Channel\.find: specify a value to search for/],
])("%s.find(%j) fails clearly, in the preview", async (kind, where, text) => {
  const { code, output } = await project.pulumi(["preview"], find(kind, where));
  expect(code).not.toBe(0);
  expect(output).toMatch(text);
});
