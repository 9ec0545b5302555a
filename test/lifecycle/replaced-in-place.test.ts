import { afterEach, beforeEach, expect, test } from "vitest";
import { type Emulated, emulated } from "../support/emulated.js";
import { kiosk, stepsOn, unsealed } from "./steps.js";

type Json = Record<string, unknown>;

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const { make, change } = stepsOn(() => hub);

const full = () =>
  kiosk({
    description: "Old words",
    restrictions: { inbound: { maxTextLength: 5 } },
    extra: { region: "eu" },
  });

const expectBare = async (): Promise<void> => {
  const [object] = await hub.objects("channels");
  expect(object).not.toHaveProperty("restrictions");
  expect(object).not.toHaveProperty("region");
  expect(object?.description).toMatch(/^\[pulumi: /);
};

test("a replacement that deletes first removes what the program removed, also in a second try", async () => {
  const { id, state } = await make("Channel", full());
  hub.nextRun();
  await hub.of("Channel").check(state, kiosk());
  await hub.of("Channel").delete(id, state);
  await hub.faults({
    on: "PUT /channels/{id}",
    kind: "status",
    status: 400,
    times: 1,
    body: { code: "400-1", developerMessage: "not now" },
  });
  const failure = (await make("Channel", kiosk()).catch((error) => error)) as Json;
  expect(failure.id).toBe(id);
  hub.nextRun();
  await change("Channel", id, unsealed(failure.properties), kiosk());
  await expectBare();
});

// Not so yet: nothing tells what the program said before.
test("a replacement that creates first removes what the program removed", async () => {
  const { id, state } = await make("Channel", full());
  hub.nextRun([{ kind: "Channel", id, owner: String(state.owner) }]);
  await make("Channel", kiosk());
  await hub.of("Channel").delete(id, state);
  await expectBare();
});
