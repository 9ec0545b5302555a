import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import * as sdk from "../../sdk/index.js";
import { inputsOf, startProgram, valueIn } from "./registered.js";

const args = { type: "custom.x", displayName: "X", icon: "aa" };

/** What the provider is told of an `extra` that is made once the program runs. */
const reported = async (make: (unknown: pulumi.Output<string>) => pulumi.Input<pulumi.Inputs>) => {
  const seen: unknown[] = [];
  for (const preview of [false, true]) {
    const registered = await startProgram("prod", preview);
    const other = new sdk.Channel("other", args);
    // An output that the engine says nothing of is unknown in a preview.
    const extra = make(other.created.apply((created) => created ?? "later"));
    const made = new sdk.Channel("web", { ...args, extra });
    await valueIn(made.urn);
    const inputs = inputsOf(registered, "web");
    expect(inputs).toHaveProperty("extra");
    seen.push(inputs.extraSecrets);
  }
  expect(seen[1]).toEqual(seen[0]);
  return seen[0];
};

const secret = pulumi.secret;

test.each<[string, () => pulumi.Input<pulumi.Inputs>, readonly string[] | undefined]>([
  ["nothing secret", () => ({ a: 1, b: pulumi.output({ c: ["x"] }) }), undefined],
  ["a member", () => ({ region: "eu", apiKey: secret("s") }), ["apiKey"]],
  ["a member of a member", () => ({ a: { b: secret("s"), c: 1 } }), ["a.b"]],
  ["an item of a list", () => ({ list: ["x", secret("s")] }), ["list"]],
  ["a member of an item of a list", () => ({ a: { list: [{ b: [secret("s")] }] } }), ["a.list"]],
  ["several", () => ({ z: secret(1), a: { b: secret({ c: 1 }) } }), ["a.b", "z"]],
  ["all of it", () => secret({ a: 1 }), [""]],
  ["an output that holds a secret", () => pulumi.output({ a: secret("s"), b: 1 }), [""]],
  ["a member that is such an output", () => ({ m: pulumi.output({ a: secret("s") }) }), ["m"]],
  ["what follows from a secret", () => ({ a: secret("s").apply((s) => s.length) }), ["a"]],
  ["a secret inside what an output gives", () => ({ a: nested() }), ["a"]],
  ["a promise of a secret", () => ({ a: Promise.resolve(secret("s")) }), ["a"]],
  ["a promise of all of it", () => Promise.resolve({ a: secret("s"), b: 1 }), ["a"]],
  ["a secret null", () => ({ a: secret(null) }), ["a"]],
  ["a name with a dot in it", () => ({ a: { "b.c": secret("s") } }), ["a"]],
  ["a name with a dot at the top", () => ({ "b.c": secret("s") }), [""]],
  ["a name below one with a dot in it", () => ({ a: { "b.c": { d: [secret("s")] } } }), ["a"]],
  ["a name below such a one at the top", () => ({ "b.c": { d: secret("s") }, d: 1 }), [""]],
  ["an empty name", () => ({ a: { "": secret("s") } }), ["a"]],
])("%s", async (_, make, expected) => {
  expect(await reported(make)).toEqual(expected);
});

const nested = (): pulumi.Output<unknown> =>
  pulumi.output(1).apply((): Record<string, unknown> => ({ deep: { key: secret("s") } }));

test("an unknown value is marked by what it is: a secret or not", async () => {
  expect(await reported((unknown) => ({ a: unknown }))).toBeUndefined();
  expect(await reported((unknown) => ({ a: secret(unknown) }))).toEqual(["a"]);
  expect(await reported((unknown) => ({ a: pulumi.all([unknown, secret("s")]) }))).toEqual(["a"]);
  expect(
    await reported((unknown) => ({ a: pulumi.interpolate`${unknown}-${secret("s")}` })),
  ).toEqual(["a"]);
});

test("without extra nothing is marked", async () => {
  const registered = await startProgram();
  await valueIn(new sdk.Channel("web", args).urn);
  for (const { inputs } of registered) expect(inputs).not.toHaveProperty("extraSecrets");
});

test("of documented fields the provider learns what only the program makes a secret of", async () => {
  const registered = await startProgram();
  const hub = new sdk.Authentication("hub", {
    basicAuth: { username: "hub", password: secret("by definition") },
  });
  const role = {
    name: "custom_bot" as const,
    version: "v3" as const,
    notificationEmail: "bot@example.com",
  };
  const made = [
    hub,
    new sdk.Authentication("id", {
      oauth2: {
        tokenRequestUrl: secret("https://id.example.com"),
        method: "POST",
        headers: { Accept: "application/json" },
        payload: "a=b",
        accessTokenPath: "$.token",
      },
    }),
    new sdk.ClientApplication("bot", {
      roles: [{ ...role, authentication: hub, callback: secret("https://bot.example.com/in") }],
    }),
    new sdk.ClientApplication("open", {
      roles: [
        {
          ...{ ...role, authentication: hub, callback: "https://bot.example.com/in" },
          headers: { "X-Key": secret("by definition") },
        },
      ],
    }),
  ];
  for (const { urn } of made) await valueIn(urn);
  const marked = (name: string) => inputsOf(registered, name).markedSecrets;
  expect(["hub", "id", "bot", "open"].map(marked)).toEqual([
    ...[undefined, ["oauth2.tokenRequestUrl"], ["roles"], undefined],
  ]);
});
