import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CommandFailure } from "../../cli/command.js";
import {
  accountDigest,
  type ChangeRecord,
  changeRecord,
  checkedRecordText,
  outcomeDigest,
  readRecord,
} from "../../cli/rehearse/change-record.js";
import { jsonDigest } from "../../cli/rehearse/recorded-program.js";
import { isObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { run } from "../cli/session.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const recordOf = (passes: boolean, digit: string): ChangeRecord =>
  changeRecord(
    {
      ...{ operation: "up", project: "shop", stack: "prod", plan: "basic", parallel: 8 },
      outcome: {
        ...{ passes, totalSeconds: 1.5, totalCalls: 1, objects: 1, isIdempotent: true },
        calls: [{ method: "POST", template: "/channels", status: 201, seconds: 0.25 }],
        steps: [],
        refusals: [],
        leftOut: ['urn:Größe \u{1f600} \\ " \u2028'],
        changes: [{ change: "made", kind: "Channel", name: "web" }],
        undeclared: [],
      },
      ...{ alternatives: [], unaffectedSwitches: ["put"], notes: ["a note"] },
    },
    ["--target", "urn:x"],
    {
      program: { version: "1.0.0", files: { "index.ts": digit.repeat(64) }, outputs: [] },
      settings: { "conversation:put": "keep", "conversation:clientId": { salt: "a", digest: "b" } },
      asScopes: ["app.conversation.conversationmgr.manage"],
      unread: [{ kind: "Authentication" }],
      digests: { state: "1".repeat(64), account: "2".repeat(64) },
    },
  );

const record = recordOf(true, "0");
const text = `${JSON.stringify(record, null, 2)}\n`;

/** What a check says of a file with this content: that it holds, that its outcome is not its own, or why it is refused. */
const verdict = (content: string | Uint8Array): "holds" | "outcome" | string => {
  const file = join(temporaryFolder(), "record.json");
  writeFileSync(file, content);
  return verdictOn(file);
};

const verdictOn = (file: string): string => {
  try {
    const read = readRecord(file);
    const isWhole = outcomeDigest(read) === read.digests.outcome && read.rehearsal.outcome.passes;
    return isWhole ? "holds" : "outcome";
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === 2) return error.message;
    throw error;
  }
};

const refusal =
  /^\S+ (is not a change record|is a change record from another release or was edited)\. To create one, run: npx pulumi-conversation rehearse --record <file>$/;

test("a record holds as it was written, however its lines end, after a byte order mark, and through a link", () => {
  expect(verdict(text)).toBe("holds");
  expect(verdict(text.replaceAll("\n", "\r\n"))).toBe("holds");
  expect(verdict(`\ufeff${text}`)).toBe("holds");
  expect(verdict(JSON.stringify(record))).toBe("holds");
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.json"), text);
  symlinkSync(join(folder, "a.json"), join(folder, "b.json"));
  expect(verdictOn(join(folder, "b.json"))).toBe("holds");
});

test("cut off anywhere it is refused in one sentence", () => {
  const whole = text.trimEnd();
  for (let length = 0; length < whole.length; length += 1)
    expect(verdict(whole.slice(0, length))).toMatch(refusal);
});

test("what is no text of a record is refused in one sentence", () => {
  const odd = [Buffer.from(text, "utf16le"), `${text}${text}`, `[${text}]`, "null"];
  for (const content of [...odd, "[".repeat(1e6), "0".repeat(1e6), new Uint8Array(1000).fill(0xff)])
    expect(verdict(content)).toMatch(refusal);
  const folder = temporaryFolder();
  mkdirSync(join(folder, "folder"));
  symlinkSync(join(folder, "itself"), join(folder, "itself"));
  for (const name of ["folder", "itself", "gone"])
    expect(verdictOn(join(folder, name))).toMatch(
      /^Cannot read the change record: E[A-Z]+: [^\n]+\. To create one, run: npx pulumi-conversation rehearse --record <file>$/,
    );
});

/** Where every member of a value stands, objects and lists included. */
const places = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, of]) => [
        [...path, name],
        ...places(of, [...path, name]),
      ])
    : [];

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (of, name) => (isObject(of) ? of[name] : Array.isArray(of) ? of[Number(name)] : undefined),
    value,
  );

const put = (
  value: unknown,
  [name, ...rest]: readonly string[],
  change: (old: unknown) => unknown,
): unknown => {
  if (name === undefined) return change(value);
  if (Array.isArray(value))
    return value.flatMap((of, place) => (String(place) === name ? [put(of, rest, change)] : [of]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => {
      const changed = key === name ? put(of, rest, change) : of;
      return changed === gone ? [] : [[key, changed]];
    }),
  );
};

const gone = Symbol("gone");
const every = places(record);
const place = fc.constantFrom(...every);
const otherDigest = fc.constantFrom("3".repeat(64), ...Object.values(record.digests));

const forgery = fc.oneof(
  fc
    .record({ path: place, value: fc.jsonValue() })
    .map(({ path, value }) => put(record, path, () => value)),
  place
    .filter((path) => !/^\d+$/.test(path.at(-1) ?? ""))
    .map((path) => put(record, path, () => gone)),
  fc.tuple(place, place).map(([a, b]) =>
    put(
      put(record, a, () => at(record, b)),
      b,
      () => at(record, a),
    ),
  ),
  fc
    .tuple(place, fc.string(), fc.jsonValue())
    .map(([path, name, value]) =>
      put(record, path, (old) => (isObject(old) ? { ...old, [name]: value } : [old, value])),
    ),
  fc
    .tuple(fc.constantFrom(...Object.keys(record.digests)), otherDigest)
    .map(([name, digest]) => put(record, ["digests", name], () => digest)),
);

test("changed, without a member, with members swapped or added, or with another digest it does not pass", () => {
  const original = JSON.stringify(record);
  fc.assert(
    fc.property(forgery, (forged) => {
      const said = verdict(JSON.stringify(forged) ?? "");
      if (JSON.stringify(forged) === original) expect(said).toBe("holds");
      else expect(said).toMatch(/^outcome$|^\S+ is (not )?a change record/);
    }),
    { numRuns: 400, seed: 12 },
  );
});

test("a member that stands there twice is refused: one reader takes the first, another the last", () => {
  const names = every.flatMap((path) => path.filter((name) => !/^\d+$/.test(name)));
  for (const name of new Set(names)) {
    const twice = text.replace(`"${name}":`, `"${name}": false, "${name}":`);
    expect(verdict(twice)).toMatch(refusal);
  }
});

test("changed at any one place it does not pass", () => {
  for (const path of every)
    expect(verdict(JSON.stringify(put(record, path, () => "another"))), path.join(".")).not.toBe(
      "holds",
    );
});

test("the outcome of one rehearsal does not go with the digests of another", () => {
  const refused = recordOf(false, "4");
  const { state, account } = refused.digests;
  const { program } = refused;
  const mixed = { ...record, program, digests: { ...record.digests, state, account } };
  expect(verdict(JSON.stringify(mixed))).toBe("outcome");
});

test("the command that is to be run can be pasted as it is", () => {
  const args = ["--target", "urn:a::shop$my:index:Shop::it's"];
  const said = checkedRecordText({
    ...{ holds: true, passes: true, changed: [], unread: [], madeAt: record.madeAt, args },
    ...{
      differences: { program: [], settings: [] },
      operation: "up",
      project: "shop",
      stack: "prod",
    },
  });
  expect(said).toContain(`pulumi up --target 'urn:a::shop$my:index:Shop::it'\\''s'`);
});

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

test("the command ends with 2, before it looks for a stack, where there is no record", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "other.json"), "{}");
  for (const name of ["other.json", "gone.json"]) {
    const { code, out, err } = await run("rehearse", "--check", join(folder, name));
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(
      /(is not a change record|Cannot read the change record).*To create one, run: npx/s,
    );
  }
});
