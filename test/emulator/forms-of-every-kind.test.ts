import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { naturalKey } from "../../provider/definition/references.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { changed, fieldCases, holds, type Ids, samples } from "./field-cases.js";
import { type Running, running } from "./running.js";
import { given, plain, stored } from "./stored-and-given.js";

const unheardOf = { list: [{ a: 1 }, { id: 5 }], none: [], text: "e\u0301\n" };
let serial = 0;

const makeTargets = async (service: Running): Promise<Ids> => {
  const ids = new Map<string, string>();
  for (const definition of resources) ids.set(definition.kind, await service.make(definition));
  return ids;
};

/** Complete bodies with members that nobody knows, and bodies with as little as is allowed. */
const bodiesOf = (definition: Definition, ids: Ids): readonly JsonObject[] =>
  samples(definition, ids).flatMap((all) => {
    const { fields, rule } = definition;
    const variants = rule && "exactlyOne" in rule ? Object.values(rule.exactlyOne) : [];
    const required = Object.entries(fields)
      .filter(([name, field]) => field.required || variants.includes(name))
      .map(([name, field]) => field.wire ?? name);
    const least = Object.entries(all).filter(([name]) => required.includes(name));
    return [{ ...all, unheardOf }, Object.fromEntries(least)].map((body) => {
      serial += 1;
      return { ...body, [naturalKey(definition)]: `name-${serial}` };
    });
  });

const makeAll = async (service: Running, definition: Definition): Promise<readonly string[]> => {
  const ids = await makeTargets(service);
  const all: string[] = [];
  for (const body of bodiesOf(definition, ids)) {
    const { json } = await service.call("POST", `/${definition.collection}`, body);
    all.push(String(json.id));
  }
  return all;
};

/** The optional members that were never given and are not null, at every depth. */
const lacking = (fields: Fields, before: JsonObject, after: JsonObject, path = ""): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wire = field.wire ?? name;
    if (before[wire] === undefined)
      return field.required || after[wire] === null ? [] : [path + wire];
    return lackingIn(field, before[wire], after[wire], path + wire);
  });

const lackingIn = (field: Field, before: unknown, after: unknown, path: string): string[] => {
  if (field.type === "object" && isObject(before) && isObject(after))
    return lacking(field.fields, before, after, `${path}.`);
  return field.type === "list" && Array.isArray(before) && Array.isArray(after)
    ? before.flatMap((item, place) => lackingIn(field.of, item, after[place], `${path}[]`))
    : [];
};

describe.each(resources.map((definition) => [definition.kind, definition] as const))(
  "%s",
  (kind, definition) => {
    test("given as it was, byte for byte, whatever the switch was meanwhile", async () => {
      const service = await running({ switches: { secrets: "echo" } });
      const turn = (forms: string) => service.control("PUT", "/switches", { forms });
      for (const id of await makeAll(service, definition)) {
        const read = async () =>
          (await service.call("GET", `/${definition.collection}/${id}`)).text;
        const text = await read();
        expect(text).toBe(JSON.stringify(await stored(service, kind, id)));
        await turn("own");
        expect(await read()).not.toBe(text);
        await turn("given");
        expect(await read()).toBe(text);
      }
    });

    test("every optional member that was not given is null, at every depth", async () => {
      const service = await running({ switches: { forms: "own", secrets: "echo" } });
      for (const id of await makeAll(service, definition)) {
        const after = await given(service, kind, id);
        expect(lacking(definition.fields, await stored(service, kind, id), after)).toEqual([]);
      }
    });

    test.each(["keep", "refuse", "drop"] as const)(
      "with unknown members to %s, PUT takes what GET gave, and GET gives it again",
      async (unknownFields) => {
        const service = await running({ switches: { forms: "own", secrets: "echo" } });
        for (const id of await makeAll(service, definition)) {
          const { unheardOf: unknown, ...known } = await given(service, kind, id);
          const sent =
            unknownFields === "keep" && unknown ? { ...known, unheardOf: unknown } : known;
          await service.control("PUT", "/switches", { unknownFields });
          const reply = await service.call("PUT", `/${definition.collection}/${id}`, sent);
          expect({ status: reply.status, text: reply.text }).toEqual({ status: 204, text: "" });
          expect(plain(await given(service, kind, id))).toEqual(plain(sent));
          const kept = JSON.stringify(await stored(service, kind, id));
          expect(kept).not.toMatch(/null|"item-\d+"|\\r/);
        }
      },
    );

    test("what is wrong in either form is refused", async () => {
      const service = await running({ switches: { forms: "own", secrets: "echo" } });
      const ids = await makeTargets(service);
      const bothWays = ['"5" for number', "5 for string"];
      for (const base of samples(definition, ids)) {
        const wrong = fieldCases(definition.fields, [], ids)
          .filter(({ code, value, place }) => code && value !== null && holds(base, place))
          .filter(({ label, key }) => !bothWays.includes(label) || key === "name");
        expect(wrong.length).toBeGreaterThan(15);
        const replies = await Promise.all(
          wrong.map(async ({ place, value, key, label }) => {
            const body = changed(base, place, value);
            const { status } = await service.call("POST", `/${definition.collection}`, body);
            return { key, label, status };
          }),
        );
        expect(replies.filter(({ status }) => status !== 400)).toEqual([]);
      }
    });
  },
);

test("whatever is taken is given back in a form that is taken again, and comes back the same", async () => {
  const service = await running({ switches: { forms: "own", secrets: "echo" } });
  const ids = await makeTargets(service);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...resources),
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
      async (definition, unknown, description) => {
        const [body] = bodiesOf(definition, ids);
        const path = `/${definition.collection}`;
        const all = { ...body, unheardOf: unknown, description };
        const { status, json } = await service.call("POST", path, all);
        expect(status).toBe(201);
        const before = await given(service, definition.kind, String(json.id));
        expect((await service.call("PUT", `${path}/${json.id}`, before)).status).toBe(204);
        const after = await given(service, definition.kind, String(json.id));
        expect(plain(after)).toEqual(plain(before));
        await service.call("DELETE", `${path}/${json.id}`);
      },
    ),
    { numRuns: 200 },
  );
});
