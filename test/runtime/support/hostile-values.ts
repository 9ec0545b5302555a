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
  () => Symbol("s"),
  () => "\ud800",
  () => "\0",
  () => "../..",
  () => "__proto__",
  () => "x".repeat(5_000),
  () => ({ toString: throws, toJSON: throws, valueOf: throws, [Symbol.toPrimitive]: throws }),
  () => Object.defineProperty({}, "text", { enumerable: true, get: throws }),
  () => ({ inner: { half: "\ud800" } }),
  () => new (class Own {})(),
  () => throws,
  () => new Proxy({}, traps),
  () => new Proxy([], traps),
  revoked,
  circular,
  () => deep(20_000),
];

const further = {
  ...{ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true },
  ...{ withNullPrototype: true, withObjectString: true, withSparseArray: true },
};

/** One hostile value, made when it is used. */
export const hostile: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...makers) },
  { weight: 2, arbitrary: fc.anything(further).map((value) => () => value) },
);
