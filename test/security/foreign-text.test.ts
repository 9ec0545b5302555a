import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { driftMarkdown } from "../../cli/drift/report.js";
import { explainSetUp, explanationText } from "../../cli/explain/explain.js";
import { progressOn } from "../../cli/terminal/progress.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { inertOutput, inertText } from "../../provider/kernel/text.js";
import { exportSandbox } from "../cli/export/exported.js";
import { run } from "../cli/session.js";
import { roleOf } from "../support/forms.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Pieces that some medium acts on: terminals, Markdown and HTML, runners of pipelines, sources. */
const pieces = [
  ...[
    "\u001b[31m",
    "\u001b]0;title\u0007",
    "\u009b2J",
    "\u202e",
    "\u2066",
    "\u2028",
    "\ufeff",
    "\u{e0041}",
    "\u200b",
    "\u2060",
    "\u00ad",
    "\u3164",
  ],
  ...["\n::error::owned", "::stop-commands::x", "##[error]owned", "##vso[task.setvariable]x", "\r"],
  ...["`", "``", "|", "\\", "\\|", "![x](https://evil.example/x.png)", "@octocat", "&#64;octocat"],
  ...["<img src=x>", "</details>", "<!-- pulumi-conversation drift -->", "# title", "[a](b)"],
  ...["secrets.", "*/", "${x}", '"', "'", "a", "orders", " ", "長い"],
];

const hostileText = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(""));

const esc = "\u001b";
const controls = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f";
const nothing = "\\u00ad\\u200b\\u2060-\\u2065\\u115f\\u3164";
const direction = "\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\u{e0000}-\\u{e007f}";
const invisible = new RegExp(`[${controls}${direction}${nothing}]`, "u");

/** What no line that a person or a runner reads may hold. */
const active = new RegExp(`[${controls}${direction}${nothing}]|^\\s*::|##\\[|##vso\\[`, "mu");

/** Markdown without what stands as code: a run of backticks ends at the next run of the same length. */
const withoutCode = (markdown: string): string =>
  markdown
    .replace(/^(`{3,})text\n[\s\S]*?\n\1$/m, "")
    .split("\n")
    .map((line) => line.replaceAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g, ""))
    .join("\n");

const harmful = /octocat|evil|<img|owned|# title|\]\(/;

const times = { seed: 17, numRuns: 25 };

const stamps = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-01T00:00:00.000Z" };

/** A setup in which every text of people is the given one; a number keeps names apart. */
const setUpWith = (text: string) => {
  const application = (id: string, role: string) => ({
    ...{ id, ...stamps, name: `${text}${id}`, description: text },
    roles: [roleOf(role, { callback: `https://${id}.example.com/` })],
  });
  const id = (kind: number, place = 0) =>
    `${String(kind).repeat(8)}-0000-4000-8000-${String(place).padStart(12, "0")}`;
  const [kiosk, bot, desk] = [id(2, 1), id(2, 2), id(2, 3)];
  return {
    authentications: [
      {
        ...{ id: id(1), ...stamps, name: `${text}1`, description: text, type: "basic" },
        basicAuth: { username: text.slice(0, 50) || "u", password: "not-a-real-one" },
      },
    ],
    channels: [{ id: id(4), ...stamps, type: "custom.web", displayName: text, icon: "aVZC" }],
    clientapplications: [
      application(kiosk, "customer"),
      application(bot, "custom_bot"),
      application(desk, "custom_agent"),
    ],
    participants: [
      { id: id(3), ...stamps, name: `${text}3`, type: "custom_bot", application: { id: bot } },
    ],
    orchestrations: [
      {
        ...{ id: id(5), ...stamps, name: `${text}5` },
        applications: {
          botConfiguration: {
            bots: [{ id: bot, participant: { id: id(3) }, onEscalation: { agent: { id: desk } } }],
          },
          customerConfiguration: { customer: { id: kiosk } },
        },
      },
    ],
    accounts: [
      {
        ...{ id: id(6), ...stamps, name: `${text}6`, address: "shop-1", channel: { id: id(4) } },
        chatConfigurations: { orchestration: { id: id(5) }, entryPoint: { id: "1007" } },
      },
    ],
  };
};

/** A stack's state with one object, in which every text of people is the given one. */
const saved = (text: string, name: string): string => {
  const file = join(temporaryFolder(), name);
  const type = typeToken("Channel");
  const channel = {
    ...{ urn: `urn:pulumi:prod::shop::${type}::${text}`, type, id: "web" },
    outputs: { type: "custom.web", displayName: text, description: text, icon: "aVZC" },
  };
  writeFileSync(file, JSON.stringify({ version: 3, deployment: { resources: [channel] } }));
  return file;
};

test("text of others holds nothing active, and text without it stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = inertText(text);
      expect(shown).not.toMatch(/\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u);
      expect(inertText(shown)).toBe(shown);
    }),
    { seed: 1, numRuns: 500 },
  );
  expect(inertText("Größe 👨‍👩‍👧 عربة")).toBe("Größe 👨‍👩‍👧 عربة");
  expect(inertText("a\u001b[31mb\u202e")).toBe("a\\u001b[31mb\\u202e");
  expect(inertText("❤️ می\u200cخواهم")).toBe("❤️ می\u200cخواهم");
  expect(inertText("shop\u200b\u00ad\u3164")).toBe("shop\\u200b\\u00ad\\u3164");
});

test("JSON means the same once printed, and colours pass only if they are wanted", () => {
  fc.assert(
    fc.property(fc.oneof(hostileText, fc.string({ unit: "binary" })), (text) => {
      const value = { [text]: [text] };
      const printed = inertOutput(JSON.stringify(value, null, 2), false);
      expect(printed).not.toMatch(active);
      expect(JSON.parse(printed)).toEqual(value);
    }),
    { seed: 2, numRuns: 500 },
  );
  expect(inertOutput("\u001b[32m✓\u001b[39m \u001b[8mhidden", true)).toBe(
    "\u001b[32m✓\u001b[39m \\u001b[8mhidden",
  );
  const pulumis = "\u001b[38;5;2m+ \u001b[1mcreated\u001b[0m";
  expect(inertOutput(pulumis, true)).toBe(pulumis);
  expect(inertOutput("\u001b[32m✓\u001b[39m", false)).toBe("\\u001b[32m✓\\u001b[39m");
});

test("explain, as text and as JSON", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, async (text) => {
      const { folder, env } = await exportSandbox(setUpWith(text));
      const { explanation } = await explainSetUp({ folder, env });
      expect(explanation.accounts).toHaveLength(1);
      expect(inertOutput(explanationText(explanation), false)).not.toMatch(active);
      expect(inertOutput(JSON.stringify(explanation), false)).not.toMatch(active);
    }),
    { ...times, numRuns: 12 },
  );
});

test("compare, as text and as JSON", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (text, other) => {
      const [a, b] = [saved(text, "a.json"), saved(other, "b.json")];
      for (const more of [[], ["--json"]]) {
        const { code, out, err } = await run("compare", a, b, ...more);
        expect(code).toBe(text === other ? 0 : 2);
        expect(out + err).not.toMatch(active);
      }
    }),
    times,
  );
});

test("an error that quotes others, a command line and a name of a file", async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, async (text) => {
      for (const line of [[text], ["compare", text, saved("a", "a")]]) {
        const { out, err } = await run(...line);
        expect(out + err).not.toMatch(active);
      }
    }),
    times,
  );
});

test("progress shows what it is busy with, and what others wrote only as text", () => {
  fc.assert(
    fc.property(hostileText, fc.boolean(), (text, isTTY) => {
      let written = "";
      const progress = progressOn({
        isTTY,
        columns: 80,
        write: (part: string) => {
          written += part;
        },
      });
      const step = progress.step("Reading");
      step.detail(text);
      step.print(text);
      step.done(text);
      progress.note(text);
      // Beside the line that is redrawn, and its colour where there is one.
      const own = new RegExp(`\\r${esc}\\[K|${esc}\\[\\d+m`, "g");
      expect(written.replaceAll(own, "")).not.toMatch(active);
    }),
    times,
  );
});

describe("Markdown", () => {
  test("the README of an export, and its program compiles and says the same", async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const hub = await exportSandbox(setUpWith(text));
        await hub.export();
        for (const [name, content] of Object.entries(hub.files())) {
          if (name === "README.md") expect(withoutCode(content)).not.toMatch(harmful);
          expect(content, name).not.toMatch(invisible);
          if (!name.endsWith(".ts")) continue;
          const { diagnostics } = ts.transpileModule(content, { reportDiagnostics: true });
          expect(diagnostics).toEqual([]);
        }
      }),
      { ...times, numRuns: 12 },
    );
  });

  test("the comment of drift", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const object = { kind: "Channel", name: text, id: text };
        const result = {
          ...{ project: "shop", stack: "prod", drift: true, compared: 1, readAt: "2026-01-01" },
          changed: [
            { ...object, who: text, urn: "", changes: [{ path: text, state: text, live: text }] },
          ],
          ...{ deleted: [{ ...object, urn: "", who: text }], notes: [text], uncheckable: [] },
          unmanaged: [{ ...object, standing: "unmarked" }],
          ...{
            otherStacks: [{ ...object, stack: text }],
            unread: [{ kind: "Channel", problem: text }],
          },
        } as never;
        const drift = driftMarkdown(result, {});
        const comment = inertOutput(drift, false);
        expect(comment).not.toMatch(active);
        expect(withoutCode(comment)).not.toMatch(harmful);
        expect(comment.split("<!--").length - 1).toBeGreaterThanOrEqual(1);
        expect(withoutCode(comment).split("<!--")).toHaveLength(2);
        expect(comment).toMatch(/^<!-- pulumi-conversation drift shop\/prod -->\n/);
      }),
      { ...times, numRuns: 100 },
    );
  });
});
