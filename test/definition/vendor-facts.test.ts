import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf } from "../emulator/running.js";
import { handedBack } from "../support/door.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { wireOperations } from "../support/wire-table.js";
import { bodies, type Fact, type Members } from "./vendor-facts.js";

/** A value as it is sent, and as a program writes it. */
interface Made {
  readonly wire: unknown;
  readonly program: unknown;
  /** What is wrong with it: where in the program and on the wire, and the service's code. */
  readonly wrong?: { readonly path: string; readonly key: string; readonly code: string };
}

const id = "8a7d1c02-3f55-4f0a-9d7e-2b6c9e1f4a21";

const plain = (value: unknown, code?: string): Made => ({
  wire: value,
  program: value,
  ...only(code === undefined ? undefined : { path: "", key: "", code }),
});

const boxed = (name: string, { wire, program, wrong }: Made): Made => ({
  wire: { [name]: wire },
  program,
  ...only(wrong && { ...wrong, key: `.${name}${wrong.key}` }),
});

const changed = ({ wire, program, ...rest }: Made, changes: JsonObject): Made => ({
  wire: Object.assign({}, wire, changes),
  program: Object.assign({}, program, changes),
  ...rest,
});

const only = (wrong: Made["wrong"]) => (wrong ? { wrong } : {});

/** What is wrong with one of several parts, from outside. */
const inside = (
  parts: readonly (readonly [wrong: Made["wrong"], path: string, key?: string])[],
) => {
  const [found] = parts.flatMap(([wrong, path, key = path]) =>
    wrong ? [{ code: wrong.code, path: path + wrong.path, key: key + wrong.key }] : [],
  );
  return found;
};

/** Values that are of the wrong type for a program as well as on the wire. */
const wrongTypes: Readonly<Record<Fact["is"], readonly unknown[]>> = {
  text: [5, true],
  words: [5, true, {}, []],
  number: ["5", true, {}, []],
  flag: ["true", 1, 0, {}, []],
  id: [5, true, []],
  reference: [5, true, []],
  boxed: [5, true],
  object: ["x", 5, true, []],
  list: ["x", 5, true, {}],
  pairs: ["x", 5, true],
};

/** Values that are right, or wrong in one fact. */
class Maker {
  constructor(private readonly value: fc.GeneratorValue) {}

  #below(limit: number): number {
    return this.value(fc.nat, limit - 1);
  }

  #pick<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }

  /** At a limit, or between them. */
  #size(min: number, max: number): number {
    const most = Math.min(max, 2000);
    const between = min + this.#below(Math.floor((most - min) / 4) + 1) * 4;
    return this.#pick([min, between, Number.isFinite(max) ? max : most]);
  }

  make(fact: Fact, isWrong: boolean): Made {
    if (isWrong && this.#below(4) === 0) return plain(this.#pick(wrongTypes[fact.is]), "400-196");
    switch (fact.is) {
      case "text": {
        const { min, max, start } = fact;
        const of = (length: number, code?: string) =>
          plain(start.padEnd(length, "x").slice(0, length), code);
        if (!isWrong) return of(this.#size(Math.max(min, 1), max));
        if (!Number.isFinite(max)) return plain(5, "400-196");
        return this.#pick([of(max + 1, "400-358"), of(0, "400-196")]);
      }
      case "words": {
        const word = this.#pick(fact.words);
        return isWrong ? plain(`${word}_`, "400-196") : plain(word);
      }
      case "number": {
        const { min, max, whole } = fact;
        if (!isWrong) return plain(this.#pick([this.#size(min, max), whole ? min : min + 0.5]));
        return plain(this.#pick([min - 1, max + 1, whole ? min + 0.5 : min - 0.5]), "400-196");
      }
      case "flag":
        return isWrong ? plain("yes", "400-196") : plain(this.#pick([true, false]));
      case "id":
        if (!isWrong) return plain(id);
        return this.#pick([plain(`${id}0`, "400-358"), plain(id.slice(1), "400-196")]);
      case "reference":
        return boxed("id", this.make({ is: "id" }, isWrong));
      case "boxed":
        return boxed(fact.in, this.make(fact.of, isWrong));
      case "object":
        return this.object(fact.members, isWrong);
      case "list":
        return this.#list(fact, isWrong);
      case "pairs":
        return this.#pairs(fact, isWrong);
    }
  }

  object(members: Members, isWrong: boolean): Made {
    const all = Object.entries(members).map(([text, fact]) => {
      const [, wire = "", mark, name = wire] = /^(\w+)([!+~]?)(?:=(\w+))?$/.exec(text) ?? [];
      return { fact, wire, name, mark };
    });
    const chosen = isWrong ? this.#pick(all) : undefined;
    const isGone = chosen?.mark === "!" && this.#below(3) === 0;
    const there = all.filter((each) =>
      each === chosen ? !isGone : each.mark !== "" || this.#below(2) === 0,
    );
    const made = there.map((each) => ({ ...each, ...this.make(each.fact, each === chosen) }));
    const wrong = isGone
      ? { path: `.${chosen.name}`, key: `.${chosen.wire}`, code: "400-143" }
      : inside(made.map(({ name, wrong }, place) => [wrong, `.${name}`, `.${there[place]?.wire}`]));
    return {
      wire: {
        ...(isGone && this.#below(2) === 0 ? { [chosen.wire]: null } : {}),
        ...Object.fromEntries(made.map(({ wire }, place) => [there[place]?.wire, wire])),
      },
      program: Object.fromEntries(made.map(({ name, program }) => [name, program])),
      ...only(wrong),
    };
  }

  /** How many items, and which of them is wrong; a wrong number is wrong itself. */
  #count(most: number, isWrong: boolean, distinct = most) {
    const way = isWrong ? this.#below(3) : 2;
    if (way === 0) return { count: 0, wrong: { path: "", key: "", code: "400-196" } };
    if (way === 1 && Number.isFinite(most) && distinct >= most)
      return { count: most + 1, wrong: { path: "", key: "", code: "400-358" } };
    const count = this.#pick([1, 1 + this.#below(Math.min(distinct, 5)), Math.min(distinct, 100)]);
    return { count, item: isWrong ? this.#below(count) : -1 };
  }

  #list({ most, of, names }: Fact & { readonly is: "list" }, isWrong: boolean): Made {
    const { count, item, wrong } = this.#count(most, isWrong, names?.length ?? most);
    const made = Array.from({ length: count }, (_, place) => {
      const each = this.make(of, place === item);
      const name = names && { name: names[place % names.length] };
      return name && !["", ".name"].includes(each.wrong?.path ?? ".") ? changed(each, name) : each;
    });
    return {
      wire: made.map(({ wire }) => wire),
      program: made.map(({ program }) => program),
      ...only(wrong ?? inside(made.map((each, place) => [each.wrong, `[${place}]`]))),
    };
  }

  #pairs({ most, of, keys }: Fact & { readonly is: "pairs" }, isWrong: boolean): Made {
    const { words, names } = keys;
    const { count, item, wrong } = this.#count(most, isWrong, words?.length);
    const isKey = this.#below(3) === 0;
    const start = this.#below(10);
    const made = Array.from({ length: count }, (_, place) => {
      const right = words?.[(start + place) % words.length] ?? `k${place}`.padEnd(place ? 1 : 255);
      if (place !== item || !isKey) {
        const { wrong, ...value } = this.make(of, place === item);
        const inValue = wrong && { ...wrong, key: `.${names[1]}${wrong.key}` };
        return { key: right, ...value, ...only(inValue) };
      }
      const key = words ? `${right}_` : "k".repeat(256);
      const code = words ? "400-196" : "400-358";
      return { key, ...this.make(of, false), wrong: { path: "", key: `.${names[0]}`, code } };
    });
    return {
      wire: made.map(({ key, wire }) => ({ [names[0]]: key, [names[1]]: wire })),
      program: Object.fromEntries(made.map(({ key, program }) => [key, program])),
      ...only(wrong ?? inside(made.map((each, at) => [each.wrong, `.${each.key}`, `[${at}]`]))),
    };
  }
}

let hub: Emulated;
beforeAll(async () => {
  hub = await emulated({ plan: "none", switches: { unknownReference: "accept", secrets: "echo" } });
});
afterAll(() => hub.stop());

describe.each(bodies)("%s", (kind, members) => {
  const definition = kindOf(kind);
  const isAlone = bodies.filter(([each]) => each === kind).length === 1;
  const numRuns = Number(process.env.PROPERTY_RUNS ?? 100) / (isAlone ? 1 : 2);

  const given = (value: fc.GeneratorValue, isWrong: boolean) => {
    const { wire, program, wrong } = new Maker(value).object(members, isWrong);
    return { wire: wire as JsonObject, inputs: owned("it", program as JsonObject), wrong };
  };

  test("bodies within the facts are accepted and kept, and a second up leaves them alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (value) => {
        const { wire, inputs } = given(value, false);
        const { inputs: checked, failures } = await hub.of(kind).check({}, inputs);
        expect({ failures, reported: hub.reported }).toEqual({ failures: [], reported: [] });
        const { id, outs } = await hub.of(kind).create(handedBack(checked));
        const { description: _, ...sent } = wire;
        expect(await hub.service.read(definition, id)).toMatchObject({ active: true, ...sent });
        hub.nextRun();
        const cycle = hub.of(kind);
        const { inputs: now, props } = await cycle.read(id, handedBack(outs));
        const { inputs: next } = await cycle.check(handedBack(now), inputs);
        const changes = await cycle.diff(id, handedBack(props), handedBack(next));
        await hub.service.remove(definition, id);
        expect(changes).toEqual({ changes: false });
      }),
      { numRuns },
    );
  });

  test("a body that breaks one fact is refused, by name and with the vendor's code", async () => {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (value) => {
        const { wire, inputs, wrong } = given(value, true);
        const { failures } = await hub.of(kind).check({}, inputs);
        const path = `${wrong?.path.slice(1)} `;
        expect(failures.map(({ reason }) => reason.slice(0, path.length))).toContain(path);
        expect(failures.every(({ reason }) => reason.startsWith(path))).toBe(true);
        const { sent } = wireOperations.get(`POST /${definition.collection}`) ?? {};
        expect(sent?.(wire, "").length).toBeGreaterThan(0);
        const serviceMessage = expect.stringContaining(`${wrong?.key.slice(1)}: `);
        await expect(hub.service.create(definition, wire)).rejects.toMatchObject({
          details: { status: 400, serviceCode: wrong?.code, serviceMessage },
        });
      }),
      { numRuns: 2 * numRuns },
    );
  });
});
