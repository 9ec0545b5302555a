import { describe, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { connected } from "./support/connected.js";
import { type Handler, inTurn, json, raw } from "./support/fake-hub.js";

describe("create", () => {
  test.each([200, 201, 202])("takes %i with an id", async (status) => {
    await using live = await connected(json(status, { id: "c1", extra: true }));
    const made = await live.service.create(channel, { type: "x" });
    expect(made).toMatchObject({ id: "c1", extra: true });
    expect(live.hub.calls[0]?.body).toBe('{"type":"x"}');
  });

  test.each([
    ["no id", json(201, {})],
    ["no body", raw(201, "")],
    ["an id that is no text", json(201, { id: 7 })],
    ["an id that is not allowed", json(201, { id: "../accounts" })],
  ])("with %s in the answer leaves its effect unknown", async (_, answer) => {
    await using live = await connected(answer);
    await expect(live.service.create(channel, { type: "x" })).rejects.toMatchObject({
      code: "BAD_RESPONSE",
      effect: "unknown",
    });
    expect(live.hub.calls).toHaveLength(1);
  });
});

describe("read", () => {
  test("takes 404, and nothing else, for absence", async () => {
    const list = json(200, { channel: [] });
    await using live = await connected(inTurn(list, json(404, {}), json(403, {}), raw(500, "")));
    await live.service.list(channel);
    expect(await live.service.read(channel, "c1")).toBeUndefined();
    await expect(live.service.read(channel, "c1")).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(live.service.read(channel, "c1")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("replace and remove", () => {
  const junk = Array.from({ length: 3 }, () => raw(200, "gone!"));

  test.each([200, 201, 202, 204])("replace takes %i", async (status) => {
    await using live = await connected(raw(status, ""));
    await live.service.replace(channel, "c1", { type: "x" });
    expect(live.hub.log).toEqual(["PUT /channels/c1"]);
  });

  test("replace fails where the object is gone", async () => {
    await using live = await connected(inTurn(json(200, { channel: [] }), json(404, {})));
    await live.service.list(channel);
    await expect(live.service.replace(channel, "c1", {})).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("run: pulumi refresh"),
    });
  });

  test.each<[string, ...Handler[]]>([
    ["204", raw(204, "")],
    ["200 with junk and then a 404", raw(200, "gone!"), json(404, {})],
    ["junk for each try, where the object is gone", ...junk, json(404, {})],
    ["404", json(404, {})],
  ])("remove takes %s for success", async (_, ...answers) => {
    await using live = await connected(inTurn(json(200, { channel: [] }), ...answers));
    await live.service.list(channel);
    expect(await live.service.remove(channel, "c1")).toBeUndefined();
  });

  test("remove fails where only junk answers and the object is there", async () => {
    const answers = [json(200, { channel: [] }), ...junk, json(200, { id: "c1" })];
    await using live = await connected(inTurn(...answers));
    await live.service.list(channel);
    await expect(live.service.remove(channel, "c1")).rejects.toMatchObject({
      code: "BAD_RESPONSE",
    });
    expect(live.hub.log.at(-1)).toBe("GET /channels/c1");
  });
});
