import { afterEach, beforeEach, expect, test } from "vitest";
import { clientApplication } from "../../provider/resources/client-application.js";
import { type Emulated, emulated } from "../support/emulated.js";
import { basicInputs, kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const { checked, make } = stepsOn(() => hub);

/** Acted on by terminals, and by the runners of pipelines wherever they stand in a line. */
const pieces = [
  "\u009b2J",
  "\u202e",
  "\u200b",
  "##vso[task.setvariable variable=x]",
  "##[add-mask]",
];
const active = /[\u009b\u202e\u200b]|##vso\[|##\[/;

const failureOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "nothing failed",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

test.each(pieces)(
  "the name of an object in the way of a deletion is only text: %j",
  async (piece) => {
    const { id, state } = await make("Authentication", basicInputs("first-password"));
    await hub.service.create(clientApplication, {
      name: `desk${piece}`,
      roles: [
        {
          ...{ name: "customer", version: "v3", callback: "https://x.example.com" },
          ...{ notificationEmail: "a@b.example", authentication: { id } },
        },
      ],
    });
    hub.nextRun();
    const said = await failureOf(hub.of("Authentication").delete(id, state));
    expect(said).toContain('client application "desk');
    expect(said).not.toMatch(active);
  },
);

test.each(pieces)("what the service says is only text: %j", async (piece) => {
  const inputs = await checked("Channel", kiosk());
  await hub.faults({
    on: "POST /channels",
    ...{ kind: "status", status: 400, times: 1 },
    body: { code: "400-1", developerMessage: `no ${piece} here` },
  });
  const said = await failureOf(hub.of("Channel").create(inputs));
  expect(said).toContain("no ");
  expect(said).not.toMatch(active);
});
