import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { accountDigest, changeRecord, outcomeDigest } from "../../cli/rehearse/change-record.js";
import { jsonDigest } from "../../cli/rehearse/recorded-program.js";
import { isObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";

const runs = { numRuns: 200, seed: 11 };

/** The same value with the members of every object in the opposite order. */
const turned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(turned);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, turned(member)]),
  );
};

test("a digest does not depend on the order of members, but on everything else", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b]: readonly unknown[] = JSON.parse(JSON.stringify([one, other]));
      expect(jsonDigest(turned(a))).toBe(jsonDigest(a));
      if (!isDeepStrictEqual(a, b)) expect(jsonDigest(a)).not.toBe(jsonDigest(b));
    }),
    runs,
  );
});

const outcome = {
  ...{ passes: true, totalSeconds: 1.5, totalCalls: 1, objects: 1, settled: true },
  calls: [{ method: "POST", template: "/channels", status: 201, seconds: 0 }],
  steps: [],
  refusals: [],
  leftOut: ["urn:x"],
  changes: [{ change: "made" as const, kind: "Channel", name: "web" }],
  undeclared: [],
};

const record = changeRecord(
  {
    ...{ operation: "up", project: "shop", stack: "prod", plan: "basic", parallel: 8, outcome },
    ...{ otherReadings: [], sameEitherWay: ["put"], notes: ["a note"] },
  },
  ["--target", "urn:x"],
  {
    program: { version: "1.0.0", files: { "index.ts": "0".repeat(64) }, outputs: ["comment.md"] },
    settings: { "conversation:put": "keep", "conversation:clientId": { salt: "a", digest: "b" } },
    asScopes: ["app.conversation.conversationmgr.manage"],
    unread: [{ kind: "Authentication" }],
    digests: { state: "1".repeat(64), account: "2".repeat(64) },
  },
);

/** Where every text, number and truth value of a value stands. */
const leaves = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]))
    : [path];

const changedAt = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
  if (name === undefined) return typeof value === "boolean" ? !value : `${value}1`;
  if (Array.isArray(value))
    return value.map((item, place) => (String(place) === name ? changedAt(item, rest) : item));
  return isObject(value) ? { ...value, [name]: changedAt(value[name], rest) } : value;
};

const { madeAt, args, program, settings, asScopes, unread, rehearsal } = record;
const said = { madeAt, args, program, settings, asScopes, unread, rehearsal };

test.each(leaves(said).map((path) => [path.join("."), path] as const))(
  "a record whose %s was changed by hand is no longer the one that was made",
  (_, path) => {
    const { outcome, ...digests } = record.digests;
    expect(jsonDigest({ ...said, ...digests })).toBe(outcome);
    const forged = changedAt({ ...said, ...digests }, path);
    expect(jsonDigest(forged)).not.toBe(outcome);
    expect(outcomeDigest(record)).toBe(outcome);
  },
);

const reading = (host: string, ids: readonly string[], profile?: string) => ({
  settings: profile === undefined ? {} : { profile },
  account: {
    baseUrl: `https://${host}/`,
    kinds: resources.map((definition) => ({
      definition,
      objects: new Map(ids.map((id) => [id, { id, modified: "2026-01-01", name: id }])),
    })),
  },
});

test("an account has one digest, in whatever order its objects and accounts are listed", () => {
  const digest = (...list: readonly ReturnType<typeof reading>[]) => accountDigest(list);
  const [a, b] = [reading("a.example.com", ["1", "2"]), reading("b.example.com", ["3"])];
  expect(digest(reading("a.example.com", ["2", "1"]), b)).toBe(digest(a, b));
  expect(digest(b, a)).toBe(digest(a, b));
  expect(digest(a)).not.toBe(digest(a, b));
  expect(digest(reading("a.example.com", ["1"]), b)).not.toBe(digest(a, b));
});
