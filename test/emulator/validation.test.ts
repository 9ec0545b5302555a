import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { type Case, changed, fieldCases, holds, type Ids, samples } from "./field-cases.js";
import { kindOf, type Running, start } from "./running.js";

let service: Running;
const ids = new Map<string, string>();
beforeAll(async () => {
  service = await start();
  for (const definition of resources) ids.set(definition.kind, await service.make(definition));
});
afterAll(() => service[Symbol.asyncDispose]());

let serial = 0;

/** Tells a new object apart from all others, unless the case is about what tells it apart. */
const withOwnName = (kind: string, body: object, { place, value, code }: Case): object => {
  const unique = Object.entries(kindOf(kind).fields).find(
    ([, field]) => field.type === "text" && field.unique,
  );
  if (!unique || (place[0] === unique[0] && (code !== undefined || typeof value === "string")))
    return body;
  serial += 1;
  return { ...body, [unique[0]]: `case-${serial}` };
};

const outcome = async (kind: string, base: object, each: Case): Promise<string> => {
  const body = changed(withOwnName(kind, base, each), each.place, each.value);
  const { status, json, text } = await service.call("POST", `/${kindOf(kind).collection}`, body);
  if (status === 201) {
    await service.call("DELETE", `/${kindOf(kind).collection}/${json.id}`);
    return "created";
  }
  const keys = Array.isArray(json.details) ? json.details.map((detail) => detail.key) : [];
  return status === 400 && keys[0] === each.key ? String(json.code) : `${status} ${text}`;
};

/** Cases that need another member changed, too; each has a test of its own below. */
const apart = (kind: string, { place, value, key }: Case): boolean =>
  (kind === "Authentication" &&
    (place[0] === "type" || place.length === 1) &&
    value === undefined) ||
  (kind === "Authentication" && place.length === 1 && value === null) ||
  key === "applications.botConfiguration.bots[0].id";

const casesFor = (kind: string, base: object, known: Ids): readonly Case[] =>
  fieldCases(kindOf(kind).fields, [], known).filter(
    (each) => holds(base, each.place) && !apart(kind, each),
  );

describe.each(resources.map(({ kind }) => kind))("%s", (kind) => {
  test("a complete body is created, and comes back as it was given", async () => {
    for (const base of samples(kindOf(kind), ids)) {
      await service.control("PUT", "/switches", { secrets: "echo" });
      const body = withOwnName(kind, base, { label: "", place: [], value: undefined, key: "" });
      const made = await service.call("POST", `/${kindOf(kind).collection}`, body);
      expect(made.status).toBe(201);
      expect(Object.keys(made.json)).toEqual(["id"]);
      expect(made.json.id).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      const { json } = await service.call("GET", `/${kindOf(kind).collection}/${made.json.id}`);
      const { created, modified, ...rest } = json;
      expect(rest).toEqual({ ...body, id: made.json.id });
      expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(modified).toBe(created);
    }
  });

  test("every value of every field is judged by its definition", async () => {
    for (const base of samples(kindOf(kind), ids)) {
      const cases = casesFor(kind, base, ids);
      expect(cases.length).toBeGreaterThan(20);
      const results = await Promise.all(
        cases.map(async (each) => [`${each.key}: ${each.label}`, await outcome(kind, base, each)]),
      );
      expect(results).toEqual(
        cases.map(({ key, label, code }) => [`${key}: ${label}`, code ?? "created"]),
      );
    }
  });
});
