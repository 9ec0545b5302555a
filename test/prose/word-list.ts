import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Words that no sentence has, and what to write instead. */
export interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The last tables of the glossary: words, and those to use for them. Names of the code are no words. */
const glossaryPhrases: readonly Phrase[] = (
  readFileSync(join(__dirname, "../../docs/glossary.md"), "utf8").split(
    "## Words that are not used",
  )[1] ?? ""
)
  .split("\n")
  .filter((line) => /^\| (?!Not )/.test(line))
  .flatMap((line) => {
    const [, words = "", instead = ""] = line.split("|").map((cell) => cell.trim());
    return words
      .split(", ")
      .filter((word) => /^[a-z ]+$/.test(word))
      .map((word) => ({ pattern: new RegExp(`\\b${word}\\b`, "gi"), instead }));
  });

/** Verbs whose participle does not end in "ed", as far as they stand before "by". */
const irregular =
  "begun|built|chosen|done|drawn|driven|found|given|held|kept|known|made|met|put|read|run|seen|sent|set|shown|taken|thrown|told|understood|written";

const stylePhrases: readonly Phrase[] = [
  {
    pattern:
      /^Where (?!to )[^?:]*,(?! and how)|\bwhere (?=(?:no|nothing|none|possible|necessary|needed|given)\b)/g,
    instead: '"if" or "when"',
  },
  {
    // "by doing" says how, and "by default", "by name" nothing of who.
    pattern: new RegExp(
      `\\b(?:is|are|was|were|be|been|being) (?:\\w+ly )?(?:\\w+ed|${irregular}) by (?!default|hand|name|id|itself|\\w+ing\\b)`,
      "gi",
    ),
    instead: "who does it, first",
  },
  { pattern: /\b(?:set|look|time|back|log)-(?:ups?|outs?|offs?|ins?)\b/gi, instead: "one word" },
  { pattern: /\bstands? (?:in|on|at|below|beside|above|with|nowhere)\b/gi, instead: '"is"' },
  { pattern: /\bin the place of\b/gi, instead: '"instead of"' },
  { pattern: /\b(?:goes|went|gone) through\b/gi, instead: '"succeed"' },
  { pattern: /\banswer(?:s|ed)? (?:with |a )?[1-5]\d\d\b/gi, instead: '"return"' },
  { pattern: /(?<!arrives? )\bat the service\b(?!['’-])/gi, instead: '"in the service"' },
  {
    pattern:
      /\b(?:a(?:ny)?|each|every|one|two|several|both) texts?\b(?! (?:field|file|message|property))|\btexts\b/gi,
    instead: '"text", or "a string"',
  },
  { pattern: /\bas far as\b/gi, instead: '"if", or what sets the limit' },
  { pattern: /\bfor (?:its|their) rate\b/gi, instead: '"because of the rate limit"' },
  { pattern: /\bor newer\b/gi, instead: '"or later"' },
  // `--id`, `<id>`, `{id}`, "id" and `id }` are code, also where a terminal shows no marks.
  { pattern: /(?<![<{"'/-]|[:,{] )\bids?\b(?![>}"'/]| \})/g, instead: '"ID", or code' },
  { pattern: /\bleft-overs?\b/gi, instead: '"leftover"' },
  { pattern: /\bNode\b(?!\.js)/g, instead: '"Node.js"' },
  { pattern: /\bclear text\b/gi, instead: '"plain text"' },
  { pattern: /\bbeside\b/gi, instead: '"next to" or "besides"' },
  {
    pattern:
      /^(?:(?:After|Before|Below|For|From|In|On|With|Without) `code`|Otherwise|From then on|In that case) (?:an?|both|everything|it|nothing|only|th(?:e|ey|is)|your)\b/g,
    instead: "a comma after the introduction",
  },
  { pattern: /\bat work\b/gi, instead: '"active" or "running"' },
  { pattern: /\bfor ever\b/gi, instead: '"forever"' },
  { pattern: /\bso that\b.*\bso that\b/gi, instead: "two sentences" },
  // A user name, and "the user of an object": who uses it.
  { pattern: /\b(?:the|an?) (?:user|reader)s?\b(?! (?:name|of)\b)/gi, instead: '"you"' },
  { pattern: /\b(?:one|people) (?:can|may|must|has to|should)\b/gi, instead: '"you"' },
  {
    pattern: /\b(?:whilst|amongst|towards|amidst|thereby|wherein|hereby)\b/gi,
    instead: "plain words",
  },
];

export const unusedPhrases: readonly Phrase[] = [...glossaryPhrases, ...stylePhrases];

/** Words of the field, names, and the few of ours that no dictionary has. */
const names: readonly string[] = [
  "Biome",
  "Changelog",
  "Config",
  "Ctrl",
  "Dependabot",
  "JSONPath",
  "Pulumi",
  "backend",
  "backends",
  "backoff",
  "bundler",
  "changelog",
  "checksum",
  "config",
  "lookups",
  "loopback",
  "lifecycle",
  "namespace",
  "npm",
  "npx",
  "OAuth",
  "pnpm",
  "quickstart",
  "matchers",
  "pulumi",
  "schema",
  "schemas",
  "workspaces",
  "unmanaged",
  "untrusted",
  "verifier",
  "vitest",
  "zsh",
  "checksums",
  "decrypt",
  "durations",
  "getter",
  "async",
  "iterable",
  "Hono",
  "ioredis",
];

/** Commands, flags, members and schemes that a text without marks, as at a terminal, names. */
const codeWords: readonly string[] = [
  "cd",
  "chmod",
  "compinit",
  "dev",
  "http",
  "https",
  "init",
  "json",
  "listpicker",
  "localhost",
  "pagenum",
  "pagesize",
  "params",
  "proc",
  "proto",
  "redis",
  "rediss",
  "tls-cert",
  "tls-key",
  "url",
  "whoami",
  "x-www-form-urlencoded",
];

/** Words that are none of the dictionary. */
export const properWords: readonly string[] = [...names, ...codeWords];
