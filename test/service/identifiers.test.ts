import { expect, test } from "vitest";
import { fillPath } from "../../provider/service/client.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { connected } from "./support/connected.js";
import { json } from "./support/fake-hub.js";
import { hostileIds } from "./support/hostile-ids.js";

test.each(hostileIds)("the id %j is refused before anything is sent", async (id) => {
  await using live = await connected(json(200, { id: "x" }));
  const call = live.service.request(runtimeOperations.getAsset, { id });
  await expect(call).rejects.toMatchObject({ code: "ID_INVALID", effect: "none" });
  expect([...live.hub.calls, ...live.hub.tokenCalls]).toEqual([]);
});

test.each(["a", "1001", "6f2a1b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b", "A_b-9", "a".repeat(128)])(
  "the id %s is put into the path as it is",
  (id) => {
    expect(fillPath("/channels/{id}", id)).toBe(`/channels/${id}`);
  },
);

test("a path takes an id where it has a place for one, and only there", () => {
  expect(() => fillPath("/channels", "a")).toThrow(/does not accept an ID/);
  expect(() => fillPath("/channels/{id}")).toThrow(/cannot be the ID/);
});
