import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { namingOf, naturalKey } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";
import { Stage } from "../matrix/support/stage.js";
import { type Passing, Wire } from "../matrix/support/wire.js";
import type { Json } from "../support/forms.js";
import { type Held, idsAt, Life } from "./support/life.js";

let stage: Stage;
let life: Life;
let clean: string;

/** What a polluted prototype would show. */
const prototypes = (): string =>
  JSON.stringify(
    [Object.prototype, Array.prototype, Function.prototype, Map.prototype].map((prototype) =>
      Object.getOwnPropertyNames(prototype).sort(),
    ),
  );

beforeEach(async () => {
  clean = prototypes();
  stage = await Stage.open();
  life = new Life("shop/prod/0123456789abcdef", "a");
  await life.up(stage.run());
  stage.nextRun();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  expect(prototypes()).toBe(clean);
  expect(({} as Json).polluted).toBeUndefined();
});

/** Every operation on an object that is there, each in a run of its own; gives the failures. */
const actsOn = async (entry: Held): Promise<Error[]> => {
  const { form, id, state } = entry;
  const { created: _, modified: __, ...inputs } = state;
  const acts: (() => Promise<unknown>)[] = [
    () => stage.of(form.definition.kind).read(id, state),
    () => stage.of(form.definition.kind).read(id, { __provider: "pointer" }),
    () => life.change(stage.run(), entry, { description: "changed" }),
    () => new Life(life.ownership, life.word).create(stage.run(), form, inputs),
  ];
  const failures: Error[] = [];
  for (const act of acts) {
    stage.nextRun();
    await act().catch((error) => failures.push(error));
  }
  return failures;
};

/** A failure is a clear message of the package, never one of the language. */
const assertClear = (failures: readonly Error[]): void => {
  for (const { message } of failures) {
    expect(message).toMatch(/^(creating|reading|updating) the .* failed: /);
    expect(message).not.toMatch(/defect|TypeError|undefined is|is not a function|\[object/);
  }
};

const spoil = (collection: string, change: (text: string) => string): void => {
  stage.wire.clear();
  const answer = ({ status, text }: Passing) => ({ status, text: text && change(text) });
  for (const on of [`GET /${collection}`, `GET /${collection}/{id}`]) {
    stage.wire.add({ on, do: "answer", with: answer, times: 1000 });
  }
};

const wrongValues = [null, 7, "text", ["x", null, {}], { a: { b: [] } }];

describe.each(resources.map((definition) => [definition.kind, definition] as const))(
  "%s",
  (kind, definition) => {
    test("values of the wrong type in any place are reported clearly or passed over, and nothing is lost", async () => {
      const before = await idsAt(stage);
      const entry = life.held.find(({ form }) => form.definition.kind === kind);
      if (!entry) throw new Error("not declared");
      for (const wrong of wrongValues) {
        // One value after another, so that one failure hides no other.
        for (const name of Object.keys(definition.fields)) {
          // Where names need not be unique, only the mark and the name tell our object here: with
          // another name it is a copy, without the mark it is anybody's.
          if (
            !namingOf(definition).isUnique &&
            [naturalKey(definition), "description"].includes(name)
          )
            continue;
          spoil(definition.collection, (text) =>
            JSON.stringify(JSON.parse(text, (key, value) => (key === name ? wrong : value))),
          );
          assertClear(await actsOn(entry));
        }
      }
      expect(await idsAt(stage)).toEqual(before);
    });
  },
);

const poisons = [
  ["__proto__ in an object", '"__proto__":{"polluted":true},'],
  ["__proto__ spelt in disguise", '"\\u005f\\u005fproto__":{"polluted":true},'],
  ["constructor.prototype", '"constructor":{"prototype":{"polluted":true}},'],
  ["methods of every object", '"hasOwnProperty":1,"toString":2,"valueOf":3,"toJSON":4,'],
  ["a promise's method", '"then":{"polluted":true},'],
] as const;

test.each(poisons)("%s changes nothing, on its own and inside lists", async (_, poison) => {
  const before = await idsAt(stage);
  for (const entry of life.held) {
    spoil(entry.form.definition.collection, (text) => text.replaceAll('{"', `{${poison}"`));
    assertClear(await actsOn(entry));
  }
  expect(await idsAt(stage)).toEqual(before);
});

test.each(["__proto__", "constructor", "prototype", "toString"])(
  "an object with the id %s is none of ours",
  async (id) => {
    for (const { form, id: own } of life.held) {
      spoil(form.definition.collection, (text) => text.replaceAll(own, id));
    }
    for (const entry of life.held) assertClear(await actsOn(entry));
  },
);

test("a list nested ten thousand times ends in a clear message", async () => {
  const [entry] = life.held;
  if (!entry) throw new Error("not declared");
  const deep = "[".repeat(10_000) + "]".repeat(10_000);
  spoil(entry.form.definition.collection, (text) => text.replace('{"', `{"extra":${deep},"`));
  assertClear(await actsOn(entry));
});

/** What is done with an object while `on` leads elsewhere; gives the failures. */
const led = async (entry: Held, on: string): Promise<Error[]> => {
  const { form, id, state } = entry;
  stage.nextRun();
  const failureOf = (promise: Promise<unknown>): Promise<Error[]> =>
    promise.then(
      () => [],
      (error) => [error],
    );
  if (on.startsWith("DELETE")) return failureOf(stage.of(form.definition.kind).delete(id, state));
  const another = new Life("other/dev/fedcba9876543210", "b");
  another.held.push(...life.held);
  if (on.startsWith("POST")) return failureOf(another.create(stage.run(), form));
  return actsOn(entry);
};

test.each([301, 302, 303, 307, 308])(
  "a %i to another address is reported and not followed; that address receives nothing",
  async (status) => {
    await using elsewhere = await Wire.open();
    const location = `${elsewhere.origin}/conversation/v3/channels`;
    for (const entry of life.held) {
      const { collection } = entry.form.definition;
      const item = ["GET", "PUT", "DELETE"].map((method) => `${method} /${collection}/{id}`);
      for (const on of [`GET /${collection}`, `POST /${collection}`, "TOKEN", ...item]) {
        const answer = () => ({ status, text: "", headers: { location } });
        stage.wire.add({ on, do: "answer", with: answer, times: 1000 });
        const failures = await led(entry, on);
        // 303 says that the service has acted: the object is looked for, and is as it should be.
        const isLeft = on.startsWith("DELETE") && (await idsAt(stage)).includes(entry.id);
        const isDone = status === 303 && /^(POST|PUT|DELETE)/.test(on) && !isLeft;
        const message = failures.map((failure) => failure.message).join();
        // An object that is taken over does not show whether its secret was written.
        const done = on.startsWith("PUT") ? /^$|^creating [^,]+redirect/ : /^$/;
        expect(message, on).toMatch(isDone ? done : /redirect/);
        stage.wire.clear();
      }
    }
    expect(elsewhere.arrived).toEqual([]);
  },
);
