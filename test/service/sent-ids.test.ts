import { describe, expect, test } from "vitest";
import { account } from "../../provider/resources/account.js";
import { runtimeOperations } from "../../provider/service/http/operations.js";
import type { WireObject } from "../../provider/service/objects/collections.js";
import { connected, failureOf } from "./support/connected.js";
import { json } from "./support/fake-hub.js";

const { createAsset } = runtimeOperations;

describe("a note of the service names the id that was sent", () => {
  const application = "8a7d0c11-4a5b-4c6d-8e9f-0123456789ab";
  const flow = {
    name: "flow-0123456789abcdef",
    type: "custom.kiosk",
    application: { id: application },
    attributes: [{ name: "key", value: "canary-secret-1" }],
    bots: [{ id: "a1", participant: { id: "p-7" } }, { participant: "p0123456789abcdef" }],
  };

  const noted = async (key: string, body: WireObject = flow) => {
    const rule = "there is no such object";
    const details = [{ key, value: rule }];
    await using live = await connected(
      json(400, { code: "400-152", developerMessage: `${key}: ${rule}.`, details }),
    );
    const failure = await failureOf(live.service.create(account, body));
    return failure instanceof Error ? failure.message : "";
  };

  test.each([
    ["application.id", application],
    ["/application/id", application],
    ["$.application.id", application],
    ["bots[0].id", "a1"],
    ["bots[0].participant.id", "p-7"],
    ["bots[1].participant", "p0123456789abcdef"],
  ])("at %s", async (key, id) => {
    expect(await noted(key)).toContain(
      `was refused (400, 400-152: ${key} ("${id}"): there is no such object).`,
    );
  });

  test.each([
    "type",
    "application",
    "application.name",
    "bots[7].id",
    "bots[].id",
    "attributes[0].value",
    "__proto__.id",
    "constructor.name",
    "",
    "...",
    "a.".repeat(5_000),
  ])("but nothing at %s", async (key) => {
    expect(await noted(key)).not.toMatch(/\("/);
  });

  test("but no secret, however it looks", async () => {
    const secret = "canary-0123456789";
    const attributes = [{ name: "id", value: secret }];
    expect(await noted("attributes[0].value", { attributes })).not.toContain("canary");
    expect(await noted("other.id", { attributes, other: { id: secret } })).not.toContain("canary");
  });

  test("but nothing of a body whose secrets nobody told", async () => {
    const details = [{ key: "application.id", value: "unknown" }];
    await using live = await connected(json(400, { code: "400-152", details }));
    await expect(live.service.request(createAsset, { body: flow })).rejects.toThrow(
      "(400, 400-152: application.id: unknown)",
    );
  });
});
