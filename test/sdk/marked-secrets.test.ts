import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import * as sdk from "../../sdk/index.js";
import { inputsOf, startProgram, valueIn } from "./registered.js";

test("of documented fields the provider learns what only the program makes a secret of", async () => {
  const registered = await startProgram();
  const hub = new sdk.Authentication("hub", {
    basicAuth: { username: "hub", password: pulumi.secret("by definition") },
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
        tokenRequestUrl: pulumi.secret("https://id.example.com"),
        method: "POST",
        headers: { Accept: "application/json" },
        payload: "a=b",
        accessTokenPath: "$.token",
      },
    }),
    new sdk.ClientApplication("bot", {
      roles: [
        { ...role, authentication: hub, callback: pulumi.secret("https://bot.example.com/in") },
      ],
    }),
    new sdk.ClientApplication("open", {
      roles: [
        {
          ...{ ...role, authentication: hub, callback: "https://bot.example.com/in" },
          headers: { "X-Key": pulumi.secret("by definition") },
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
