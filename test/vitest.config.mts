import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What the shell says of a service, a stack or its passphrase is not for the programs of a test, nor what it
 * says of its terminal, its language and who runs it: what they print depends on that.
 */
const ofTheShell =
  /^(CONVERSATION_|PULUMI_(ACCESS_TOKEN|BACKEND_URL|CONFIG|DEBUG|HOME|OPTION_|PARALLEL|STACK)|(CI|COLUMNS|LINES|TERM|FORCE_COLOR|NO_COLOR|LANG|LANGUAGE|NODE_OPTIONS)$|LC_|GIT_|GITHUB_)/;
for (const name of Object.keys(process.env)) if (ofTheShell.test(name)) delete process.env[name];
// Farthest from the time of services: where a text tells the time of this machine, every machine shows it.
process.env.TZ = "Pacific/Kiritimati";
// A proxy of this machine does not lead back to it.
process.env.NO_PROXY = [process.env.NO_PROXY ?? process.env.no_proxy, "127.0.0.1,localhost,::1"]
  .filter(Boolean)
  .join();
delete process.env.no_proxy;

const built = (path: string) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));

/** Files that replace modules or the timers of their process, which tests beside them would see. */
const mocking = [
  "cli/progress.test.ts",
  "emulator-page/page-in-dom.test.ts",
  "model/weaknesses.test.ts",
  "pacing/several-processes.test.ts",
  "runtime/exchange-in-time.test.ts",
  "security/secrets.test.ts",
  "service/retry.test.ts",
];

/** The longest first, so that no core is idle at the end. Files that are not named follow by size. */
const longest = [
  "rehearse-record",
  "take-over",
  "page-commands",
  "rehearse-time",
  "engine",
  "repair",
  "stack-states",
  "quickstart",
  "smoke-test",
  "orphans",
  "rehearse",
  "interruption",
  "testing-kit",
  "strict-service",
  "component-libraries",
  "adoption",
  "accessibility",
  "model",
  "browser",
  "changing-emulator",
].map((name) => `${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = longest.indexOf(basename(moduleId));
      return found < 0 ? longest.length : found;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

/** A busy machine may make a test slow, never wrong: these limits only end what stands still. */
const patience = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 120_000, interval: 20 } },
};

/** One process on each core takes file after file, so that each module is loaded once. */
const shared = { ...patience, root: "test", maxWorkers: "100%" };

/** `source` and `mocked`: what runs from source. `built`: needs `npm run build` and the Pulumi CLI. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "source",
          include: ["**/*.test.ts"],
          exclude: ["built/**", ...mocking],
          isolate: false,
        },
      },
      { test: { ...shared, name: "mocked", include: mocking } },
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
          name: "built",
          root: "test",
          include: ["built/**/*.test.ts", "../examples/orders-bot/*.test.mts"],
          ...patience,
          testTimeout: 600_000,
          hookTimeout: 600_000,
          // A test waits for processes most of the time: one more than there are cores keeps them at work.
          maxWorkers: availableParallelism() + 1,
          sequence: { groupOrder: 1 },
          server: { deps: { external: [/\/dist\//] } },
        },
      },
    ],
  },
});
