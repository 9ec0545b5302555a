import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

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

/** One process on each core takes file after file, so that each module is loaded once. */
const shared = { root: "test", testTimeout: 20_000, maxWorkers: "100%" };

/** `source` and `mocked`: what runs from source. `built`: needs `npm run build` and the Pulumi CLI. */
export default defineConfig({
  test: {
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
          testTimeout: 240_000,
          hookTimeout: 240_000,
          maxWorkers: shared.maxWorkers,
          sequence: { groupOrder: 1 },
          server: { deps: { external: [/\/dist\//] } },
        },
      },
    ],
  },
});
