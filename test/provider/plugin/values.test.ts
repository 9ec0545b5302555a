import { expect, test } from "vitest";
import { unknownValue } from "../../../provider/kernel/pulumi.js";
import { givenInputs, plainValues } from "../../../provider/plugin/values.js";
import { channel } from "../../../provider/resources/channel.js";
import { clientApplication } from "../../../provider/resources/client-application.js";

const key = "4dabf18193072939515e22adb298388d";
const secret = (value: unknown) => ({ [key]: "1b47061264138c4ac30d75fd1eb44270", value });
const output = (more: object) => ({ [key]: "d0e6a833031e9bbcd3f4e8bde6ca49a4", ...more });
const file = (more: object) => ({ [key]: "c44067f5952c0a294b673a41bacd8c17", ...more });
const resource = (type: string, name: string, id?: string) => ({
  [key]: "5cf8f73096256a8f31e491e813e4eb8e",
  urn: `urn:pulumi:prod::shop::my:index:Shop$${type}::${name}`,
  ...(id === undefined ? {} : { id }),
});

test.each<[string, unknown, unknown]>([
  ["a secret", secret("s"), "s"],
  ["a secret in a secret", secret({ a: [secret("s")] }), { a: ["s"] }],
  ["an output", output({ value: 1, dependencies: ["urn"] }), 1],
  ["an output that is not known", output({}), unknownValue],
  ["a secret output", output({ value: secret("s"), secret: true }), "s"],
  ["a resource", resource("conversation:index:Channel", "web", "i"), "i"],
  [
    "a resource that is not made yet",
    resource("conversation:index:Channel", "web", ""),
    unknownValue,
  ],
  ["nothing", null, null],
])("%s becomes what the life cycle takes", (_, given, plain) => {
  expect(plainValues({ given, list: [given] })).toEqual({ given: plain, list: [plain] });
});

test("what a program marks keeps its mark beside the plain values", async () => {
  const { values, marked, faults } = givenInputs(channel, {
    displayName: output({ value: "Web", secret: true }),
  });
  expect(faults).toEqual([]);
  expect(values).toEqual({ displayName: "Web" });
  expect(marked).toEqual({ displayName: secret("Web") });
});

test("an asset is refused by its property, whether or not it is secret", () => {
  for (const icon of [file({ path: "icon.png" }), secret(file({ text: "x" }))])
    expect(givenInputs(channel, { icon }).faults).toEqual([
      "icon: must not be an asset; give the file's content as text, in base64 if it is binary",
    ]);
});

test("adopt is a text in every language: true, or an ID", () => {
  expect(givenInputs(channel, { adopt: "true" }).values).toEqual({ adopt: true });
  expect(givenInputs(channel, { adopt: "an-id" }).values).toEqual({ adopt: "an-id" });
});

test.each([
  "conversation:index:Channel",
  "conversation:index:ConversationAccount",
  "aws:s3/bucket:Bucket",
])("a reference to a %s in place of an authentication is refused by both names", async (type) => {
  const roles = [{ name: "custom_bot", authentication: secret(resource(type, "web", "i")) }];
  const { faults } = givenInputs(clientApplication, { roles });
  const kind = type.replace("conversation:index:", "");
  expect(faults).toEqual([
    `roles[0].authentication must be an Authentication; got the ${kind} "web"`,
  ]);
});
