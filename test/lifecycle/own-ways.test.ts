import { afterEach, expect, test } from "vitest";
import { type Bent, bent } from "../support/bent.js";
import { oneOfEach } from "./one-of-each.js";
import { stepsOn } from "./steps.js";

let hub: Bent;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

test.each([
  ["in lower case", (name: string) => name.toLowerCase()],
  ["without blanks inside", (name: string) => name.replaceAll(" ", "-")],
  ["cut", (name: string) => name.slice(0, 6)],
])("a lost POST makes no second object where the service keeps names %s", async (_, kept) => {
  let lost = 1;
  hub = await bent({
    stored: (body) => ({ ...body, ...(body.name ? { name: kept(String(body.name)) } : {}) }),
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  const all = await oneOfEach(steps, (kind, inputs) =>
    kind === "Orchestration" ? { ...inputs, name: "All Orders" } : inputs,
  );
  const made = await hub.objects("orchestrations");
  expect(made.map(({ id }) => id)).toEqual([all.get("Orchestration")?.id]);
});
