import { afterEach, expect, test } from "vitest";
import { type Bent, bent } from "../support/bent.js";
import { owned } from "../support/emulated.js";
import { oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

type Json = Record<string, unknown>;

let hub: Bent;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

// Not so yet: whether a body carried the mark is taken for whether the object does.
test.fails("a lost POST makes no second object where the service drops descriptions", async () => {
  let lost = 1;
  hub = await bent({
    stored: ({ description, ...body }) => body,
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  await oneOfEach(steps, (_, { description, ...inputs }) => inputs);
  expect(await hub.objects("orchestrations")).toHaveLength(1);
});

// Not so yet: the rest of a mark is read as a part of the description.
test.fails("a description that the service cuts inside the mark is no drift", async () => {
  hub = await bent({
    stored: (body) => ({ ...body, description: String(body.description).slice(0, 40) }),
  });
  const { id, state } = await steps.make("Channel", kiosk({ description: "Some words of ours" }));
  hub.nextRun();
  const { inputs } = await hub.of("Channel").read(id, state);
  expect(inputs?.description).toBe("Some words of ours");
});

// Not so yet: where secrets are left out, a payload that never was there counts as hidden.
test.fails("what this program made without a payload can be updated without one", async () => {
  hub = await bent({}, { switches: { secrets: "omit" } });
  const inputs = (method: string): Json => {
    const oauth2 = { tokenRequestUrl: "https://x.example.com/", method, headers: { A: "value-1" } };
    return owned("a", { name: "a", oauth2 });
  };
  const { id, state } = await steps.make("Authentication", inputs("POST"));
  await steps.change("Authentication", id, state, inputs("GET"));
});
