import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const built = (path: string) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));

/** Files that replace modules or the timers of their process, which tests beside them would see. */
const mocking = [
  "cli/progress.test.ts",
  "pacing/several-processes.test.ts",
  "security/secrets.test.ts",
];

/** The longest first, so that no core is idle at the end. Files that are not named follow by size. */
const longest = [
  "engine",
  "secrets",
  "quickstart",
  "new-project",
  "take-over",
  "rehearse",
  "plugin-accounts",
  "interruption",
  "first-bot",
  "killed-commands",
  "plugin",
  "plugin-states",
  "sends-nothing",
  "testing-kit",
  "native-plugin",
  "replay",
  "consumer",
  "repair",
  "plugin-languages",
  "strict-service",
  "page-commands",
  "hooks",
  "rotation",
  "stacks",
  "chaos",
  "two-doors",
  "page-in-use",
  "page-for-everybody",
  "pipelines",
  "model",
  "processes",
  "hostile-answers",
].map((name) => `${name}.test.ts`);

/** Short files last; those of a project together, so that its processes go from file to file. */
const projectOrder = ["built", "browser", "mocked", "source"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = longest.indexOf(basename(moduleId));
      return found < 0 ? longest.length : found;
    };
    const ofProject = ({ project }: TestSpecification): number =>
      projectOrder.indexOf(project.name);
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => ofProject(a) - ofProject(b) || place(a) - place(b));
  }
}

/** A busy machine may make a test slow, never wrong: these limits only end what stands still. */
const patience = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 300_000, interval: 20 } },
};

const all = {
  ...patience,
  root: "test",
  setupFiles: ["support/own-environment.ts", "support/own-violations.ts"],
  // Many tests wait for processes, rates or a page: two more than there are cores keep them at work.
  maxWorkers: availableParallelism() + 2,
};

const inBrowser = "emulator-page/browser/**/*.test.ts";

/** `source`, `mocked` and `browser`: what runs from source. `built`: needs `npm run build` and the Pulumi CLI. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...all,
          name: "source",
          include: ["**/*.test.ts"],
          exclude: ["built/**", inBrowser, ...mocking],
          // One process takes file after file, so that each module is loaded once.
          isolate: false,
        },
      },
      { test: { ...all, name: "mocked", include: mocking } },
      { test: { ...all, name: "browser", include: [inBrowser], isolate: false } },
      {
        resolve: {
          alias: [
            { find: /^pulumi-conversation$/, replacement: built("sdk/index.js") },
            { find: /^pulumi-conversation\/emulator$/, replacement: built("emulator/index.js") },
            { find: /^pulumi-conversation\/runtime$/, replacement: built("sdk/runtime/index.js") },
            { find: /^pulumi-conversation\/testing$/, replacement: built("sdk/testing/index.js") },
          ],
        },
        test: {
          ...all,
          name: "built",
          setupFiles: [...all.setupFiles, "support/small-runs.ts"],
          include: ["built/**/*.test.ts", "../examples/orders-bot/*.test.mts"],
          server: { deps: { external: [/\/dist\//] } },
        },
      },
    ],
  },
});
