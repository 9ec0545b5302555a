import fc from "fast-check";

const circular = (): unknown => {
  const value: Record<string, unknown> = {};
  value.self = { value };
  return value;
};

const deep = (levels: number): unknown => {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { value };
  return value;
};

const throws = (): never => {
  throw new Error("trap");
};

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const traps = { get: throws, has: throws, ownKeys: throws, getOwnPropertyDescriptor: throws };

/** Values that break whoever reads them without care. Each use makes them anew. */
const makers: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => 1e308,
  () => 1n,
  () => Symbol("s"),
  () => "",
  () => "\ud800",
  () => "a\udc00b",
  () => "\0",
  () => "../..",
  () => "__proto__",
  () => "x".repeat(5_000),
  () => [],
  () => [undefined],
  () => ({}),
  () => Object.create(null),
  () => ({ __proto__: null, toString: 1 }),
  () => ({ toString: throws, toJSON: throws, valueOf: throws, [Symbol.toPrimitive]: throws }),
  () => Object.defineProperty({}, "text", { enumerable: true, get: throws }),
  () => ({ big: 1n }),
  () => ({ symbol: Symbol("s") }),
  () => ({ inner: { half: "\ud800" } }),
  () => new Date(Number.NaN),
  () => new Map([["a", 1]]),
  () => new (class Own {})(),
  () => throws,
  () => new Proxy({}, traps),
  () => new Proxy([], traps),
  revoked,
  circular,
  () => deep(200),
  () => deep(20_000),
];

/** One hostile value, made when it is used. */
export const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...makers) },
  { weight: 1, arbitrary: fc.anything().map((value) => () => value) },
);
