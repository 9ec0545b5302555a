import { describe, expect, test } from "vitest";
import { orchestration } from "../../provider/resources/orchestration.js";
import type { WireObject } from "../../provider/service/lists.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { connected, failureOf } from "./support/connected.js";
import { json } from "./support/fake-hub.js";

const { createAsset } = runtimeOperations;

describe("a note of the service names the id that was sent", () => {
  const application = "8a7d0c11-4a5b-4c6d-8e9f-0123456789ab";
  const flow = {
    name: "flow-0123456789abcdef",
    applications: {
      customerConfiguration: { customer: { id: application } },
      botConfiguration: {
        bots: [
          { id: "a1", participant: { id: "p-7" }, onEscalation: { agent: { id: "a2" } } },
          { id: "a3", participant: "p0123456789abcdef" },
        ],
      },
      agentConfiguration: { agents: [{ id: "a4" }] },
    },
  };

  const noted = async (key: string, body: WireObject = flow) => {
    const rule = "there is no such object";
    const details = [{ key, value: rule }];
    await using live = await connected(
      json(400, { code: "400-196", developerMessage: `${key}: ${rule}.`, details }),
    );
    const failure = await failureOf(live.service.create(orchestration, body));
    return failure instanceof Error ? failure.message : "";
  };

  test.each([
    ["applications.customerConfiguration.customer.id", application],
    ["/applications/customerConfiguration/customer/id", application],
    ["$.applications.customerConfiguration.customer.id", application],
    ["applications.customerConfiguration.customer", application],
    ["applications.botConfiguration.bots[0].id", "a1"],
    ["applications.botConfiguration.bots[0].participant.id", "p-7"],
    ["applications.botConfiguration.bots[0].onEscalation.agent.id", "a2"],
    ["applications.botConfiguration.bots[1].participant", "p0123456789abcdef"],
    ["applications.agentConfiguration.agents[0].id", "a4"],
  ])("at %s", async (key, id) => {
    expect(await noted(key)).toContain(
      `was refused (400, 400-196: ${key} ("${id}"): there is no such object).`,
    );
  });

  test.each([
    "name",
    "applications.customerConfiguration.customer.id.id",
    "applications",
    "applications.customerConfiguration.customer.name",
    "applications.botConfiguration.bots[7].id",
    "applications.botConfiguration.bots[].id",
    "applications.botConfiguration.bots.length",
    "__proto__.id",
    "constructor.name",
    "",
    "...",
    "a.".repeat(5_000),
  ])("but nothing at %s", async (key) => {
    expect(await noted(key)).not.toMatch(/\("/);
  });

  test("but nothing that no definition knows, however much it looks like an id", async () => {
    const id = "0123456789abcdef";
    const unknown = {
      vendorKey: "canary-0123456789",
      vendorId: id,
      vendor: { id: "canary-1", keys: [{ id: "canary-2" }] },
    };
    const applications = { ...flow.applications, ...unknown };
    for (const at of ["", "applications."]) {
      for (const key of ["vendorKey", "vendorId", "vendor.id", "vendor.keys[0].id"]) {
        const message = await noted(at + key, { ...flow, ...unknown, applications });
        expect(message).toContain(`(400, 400-196: ${at}${key}: there is no such object)`);
      }
    }
  });

  test("but nothing of a body whose secrets nobody named", async () => {
    const details = [{ key: "applications.agentConfiguration.agents[0].id", value: "unknown" }];
    await using live = await connected(json(400, { code: "400-196", details }));
    await expect(live.service.request(createAsset, { body: flow })).rejects.toThrow(
      "(400, 400-196: applications.agentConfiguration.agents[0].id: unknown)",
    );
  });
});
