import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const built = (path: string) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));

/** `source`: everything that runs from source. `built`: needs `npm run build` and the Pulumi CLI. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "source",
          root: "test",
          include: ["**/*.test.ts"],
          exclude: ["built/**"],
          testTimeout: 20_000,
        },
      },
      {
        resolve: {
          alias: [
            { find: /^pulumi-conversation$/, replacement: built("sdk/index.js") },
            { find: /^pulumi-conversation\/emulator$/, replacement: built("emulator/index.js") },
          ],
        },
        test: {
          name: "built",
          root: "test",
          include: ["built/**/*.test.ts"],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          server: { deps: { external: [/\/dist\//] } },
        },
      },
    ],
  },
});
