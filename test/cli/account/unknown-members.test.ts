import { expect, test } from "vitest";
import { publicUnknown, unknownMembers } from "../../../cli/account/unknown-members.js";
import { resources } from "../../../provider/resources/index.js";

const unknownOf = (kind: string, wire: Readonly<Record<string, unknown>>) => {
  const definition = resources.find((each) => each.kind === kind);
  if (!definition) throw new Error(kind);
  return unknownMembers(definition, wire);
};

test("members beside documented ones go to extra, at the top and in documented objects", () => {
  const wire = {
    ...{ id: "1", created: "x", type: "custom.a", later: { a: null, b: [1, null] }, gone: null },
    restrictions: { inbound: { shade: "blue", maxTextLength: 5 }, outbound: {} },
  };
  expect(unknownOf("Channel", wire)).toEqual({
    extra: { later: { b: [1, null] }, restrictions: { inbound: { shade: "blue" } } },
    undeclared: [],
  });
});

test("members in items of lists, in entries of maps and beside envelopes are named", () => {
  const role = {
    name: "customer",
    queue: "fast",
    authentication: { id: "1", name: "x", weight: 3 },
  };
  const header = { name: "X-Key", value: "v", encrypted: true };
  expect(
    unknownOf("ClientApplication", { roles: [{ ...role, headers: [header] }, { nothing: null }] }),
  ).toEqual({
    undeclared: [
      "roles[customer].queue",
      "roles[customer].authentication.weight",
      'roles[customer].headers["X-Key"].encrypted',
    ],
  });
  const intents = { intent: [{ value: "a", shade: 1 }], total: 1 };
  expect(unknownOf("Participant", { intents }).undeclared).toEqual([
    "intents.total",
    "intents[a].shade",
  ]);
  const chatConfigurations = { entryPoint: { id: "1007", name: "Front" } };
  expect(unknownOf("Account", { chatConfigurations }).undeclared).toEqual([
    "chatConfigurations.entryPoint.name",
  ]);
});

test.each([
  [{ apiKey: "x" }],
  [{ webhook: { signingSecret: "x" } }],
  [{ headers: [{ name: "Authorization", value: "x" }] }],
  [{ proxy: "https://hub:pass@proxy.example.com" }],
  [{ later: "Bearer abc" }],
  [{ later: "eyJhbGciOiJI.eyJzdWIi.abc" }],
  [{ pem: "-----BEGIN PRIVATE KEY-----\nx" }],
  [{ masked: "••••••" }],
])("what may be a secret stays out of extra: %j", (wire) => {
  const { extra, undeclared } = unknownOf("Account", { name: "a", ...wire });
  expect(extra).toBeUndefined();
  expect(undeclared).toHaveLength(1);
  const [[name, value] = ["", ""]] = Object.entries(wire);
  expect(publicUnknown(name, value)).toBeUndefined();
});

test("only what may be a secret is left out of an object, and no name becomes a prototype", () => {
  const wire = JSON.parse(
    '{"later":{"token":"x","shade":"blue","__proto__":{"a":1}},"constructor":1}',
  );
  expect(unknownOf("Account", wire)).toEqual({
    extra: { later: { shade: "blue" } },
    undeclared: ["later.token", "later.__proto__", "constructor"],
  });
});
