import fc from "fast-check";
import { expect, test } from "vitest";
import { isolatedEnvironment } from "../../cli/pulumi/pulumi-cli.js";
import { terminalWidth, textTable, wantsColour, wrapped } from "../../cli/terminal/columns.js";
import { inertText } from "../../provider/kernel/text.js";
import { settingKeys, settingNames } from "../../provider/service/settings.js";

test.each<readonly [string, readonly string[], readonly string[][], readonly string[]]>([
  [
    "columns as wide as their widest cell",
    ["kind", "id"],
    [
      ["Channel", "1"],
      ["Account", "12345"],
    ],
    ["kind     id", "───────  ─────", "Channel  1", "Account  12345"],
  ],
  ["a missing cell empty", ["a", "b"], [["x"]], ["a  b", "─  ─", "x"]],
  [
    "lines of a cell below each other",
    ["a", "b"],
    [["x", "1\n22"]],
    ["a  b", "─  ──", "x  1", "   22"],
  ],
  [
    "what is wide on a terminal as wide",
    ["a", "b"],
    [
      ["漢字", "x"],
      ["😀", "y"],
      ["abcd", "z"],
    ],
    ["a     b", "────  ─", "漢字  x", "😀    y", "abcd  z"],
  ],
])("a table has %s", (_, columns, rows, lines) => {
  expect(textTable(columns, rows)).toEqual(lines);
});

const long = "word ".repeat(40).trim();

test("a table keeps to 80 columns, and columns named whole are never broken", () => {
  const id = "0".repeat(36);
  const lines = textTable(["id", "text", "more"], [[id, long, long]], { whole: ["id"] });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines.filter((line) => line.startsWith(id))).toHaveLength(1);
  expect(lines.join(" ").match(/word/g)).toHaveLength(80);
});

test.each([
  [{ isTTY: true }, {}, true],
  [{}, {}, false],
  [{ isTTY: true }, { NO_COLOR: "1" }, false],
  [{ isTTY: true }, { NO_COLOR: "" }, true],
  [{ isTTY: true }, { TERM: "dumb" }, false],
  [{}, { FORCE_COLOR: "1" }, true],
  [{ isTTY: true }, { FORCE_COLOR: "0" }, false],
  [{ isTTY: true }, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
])("colour on %j with %j: %j", (stream, env, wanted) => {
  expect(wantsColour(stream, env)).toBe(wanted);
});

test.each([
  ["a bb ccc", 4, ["a bb", "ccc"]],
  ["abcdef gh", 4, ["abcd", "ef", "gh"]],
  ["", 4, []],
  ["ab😀cd", 3, ["ab", "😀c", "d"]],
])("%j in %s columns", (text, columns, lines) => {
  expect(wrapped(text, columns)).toEqual(lines);
});

test("for random texts no line is wider than asked, and nothing is lost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 2, max: 30 }),
      (words, columns) => {
        const text = words.join(" ");
        const lines = wrapped(text, columns);
        for (const line of lines) expect(terminalWidth(line)).toBeLessThanOrEqual(columns);
        // A sign that nobody would see is shown as its code.
        expect(lines.join("").replace(/\s/g, "")).toBe(inertText(text.replace(/\s/g, "")));
      },
    ),
    { numRuns: 1000 },
  );
});

const profile = fc.option(fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/), { nil: undefined });

/** Every variable by which a shell may choose a stack, a backend, a program's options or an account. */
const leading = fc.oneof(
  fc
    .record({ key: fc.constantFrom(...settingKeys), profile })
    .map(({ key, profile: of }) => settingNames(key, of).environment),
  fc
    .constantFrom("STACK", "BACKEND_URL", "CONFIG", "PARALLEL", "HOME", "CONFIG_PASSPHRASE_FILE")
    .map((name) => `PULUMI_${name}`),
  fc.stringMatching(/^[A-Z][A-Z_]{0,12}$/).map((name) => `PULUMI_OPTION_${name}`),
);

const other = fc.constantFrom("PATH", "HOME", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "MY_PULUMI_X");

test("nothing that leads to somebody's stack or account is left, and all else stays", () => {
  fc.assert(
    fc.property(fc.array(leading), fc.uniqueArray(other), (ways, others) => {
      const env = Object.fromEntries([...ways, ...others].map((name) => [name, "value"]));
      expect(Object.keys(isolatedEnvironment(env)).sort()).toEqual([...others].sort());
    }),
    { seed: 5, numRuns: 300 },
  );
});
