import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const pulumi = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
const { PREFIX, INSIDE } = process.env;
if (INSIDE) {
  const channel = { type: "custom.web", displayName: "Web", icon: "aVZC" };
  new c.Channel("shop", channel, { parent: new pulumi.ComponentResource("my:index:Shop", "shop") });
  new c.Channel("web", channel);
}
if (PREFIX) pulumi.runtime.registerStackTransformation(({ type, name, props, opts }) => type.endsWith(":Authentication") ? { props: { ...props, name: PREFIX + name }, opts } : undefined);
exports.name = PREFIX && new c.Authentication("auth", { basicAuth: { username: "hub", password: "canary-password" } }).name;
`;

let project: EmulatedProject;

beforeAll(async () => {
  project = await emulatedProject(program);
});

afterAll(() => project?.close());

test("a name that an object inside a component has is refused in readable words", async () => {
  const { code, output } = await project.pulumi(["preview"], { INSIDE: "1" });
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /Channel "(shop" \(inside Shop\)|web") also has "custom\.web"\. Change the type of Channel/,
  );
  expect(output).toContain("(inside Shop)");
  expect(output).not.toContain("my:index:Shop$");
});

test("a name that a transform gives is a given one, and can be changed by it", async () => {
  for (const PREFIX of ["one-", "two-"]) {
    const { output } = await project.pulumi(["up", "--yes", "--skip-preview"], { PREFIX });
    expect(output).toContain(`"${PREFIX}auth"`);
  }
});
