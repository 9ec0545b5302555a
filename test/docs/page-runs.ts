/**
 * Which built test runs the commands of a page. `every`: it takes the lines from the page itself; `by hand`:
 * its source holds the same words; `the program`: it applies what the page is about in its own way.
 */
export const pageRuns: Readonly<Record<string, { readonly test: string; readonly way: string }>> = {
  "README.md": { test: "page-commands", way: "every" },
  "docs/explain.md": { test: "page-commands", way: "every" },
  "docs/drift.md": { test: "page-commands", way: "every" },
  "docs/emulator.md": { test: "page-commands", way: "every" },
  "docs/installation-configuration.md": { test: "page-commands", way: "every" },
  "docs/guides/first-bot.md": { test: "first-bot", way: "every" },
  "docs/guides/first-account.md": { test: "page-commands", way: "every" },
  "docs/guides/rate-limits.md": { test: "page-commands", way: "every" },
  "docs/guides/secrets.md": { test: "page-commands", way: "every" },
  "docs/guides/rotate-password.md": { test: "rotation", way: "every" },
  "docs/guides/configuration.md": { test: "environments", way: "every" },
  "docs/guides/killed-run.md": { test: "repair", way: "every" },
  "docs/guides/pipelines.md": { test: "two-clients", way: "every" },
  "docs/guides/plugin.md": { test: "plugin-languages", way: "every" },
  "docs/guides/rehearse.md": { test: "rehearse-record", way: "every" },
  "docs/guides/take-over.md": { test: "take-over", way: "every" },
  "docs/guides/traces.md": { test: "traces", way: "every" },
  "docs/policies.md": { test: "policies", way: "by hand" },
  "examples/new-project/AGENTS.md": { test: "new-project", way: "every" },
  "examples/new-project/README.md": { test: "new-project", way: "by hand" },
  "examples/orders-bot/README.md": { test: "quickstart", way: "the program" },
  "examples/default-account/README.md": { test: "quickstart", way: "the program" },
};

/** Lines that no test runs as they stand; their options, scripts and files are checked all the same. */
export const onlyChecked: readonly (readonly [RegExp, string])[] = [
  [/^git clone /, "the address of the repository is not known here"],
  [/^npm (ci|install|test)/, "fetches packages, or runs these very tests"],
  [/^npm run quickstart/, "quickstart.test.ts runs it, and its --destroy"],
  [/^docker /, "there is no Docker; container.test.ts checks the image's file"],
  [
    /^npx pulumi-conversation emulator --(plan enterprise|tls-cert .*)$/,
    "does not end; emulator.test.ts runs it",
  ],
  [/^pulumi package add /, "needs a language host; plugin-languages.test.ts runs it"],
  [
    /^npx pulumi-conversation explain --(snapshot|account|format|check)/,
    "explain/command.test.ts runs it; without options it runs here",
  ],
  [
    /^npx pulumi-conversation forecast --/,
    "forecast/command.test.ts runs it; without options it runs here",
  ],
  [/^npm run emulator -- /, "does not end, or is run by new-project.test.ts"],
  [/^cd |^export .*(<|…)/, "holds what only the reader knows, or only moves about"],
  [/^pulumi config set .*…/, "holds what only the reader knows"],
  [
    /^pulumi stack init prod$/,
    "page-commands.test.ts runs in a stack of that name; take-over.test.ts makes it",
  ],
];
