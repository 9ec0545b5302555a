import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Combination } from "./rows.js";

const typescriptVersions: Readonly<Record<string, string>> = { "5": "~5.9.0", "6": "~6.0.0" };

/** A small account, in words that every sort of program understands. */
const body = `
const signIn = new c.Authentication("sign-in", { basicAuth: { username: "hub", password: pulumi.secret("made-up") } });
const bot = new c.ClientApplication("bot", {
  roles: [{ name: "custom_bot", version: "v3", callback: "https://bot.example.com/messages", notificationEmail: "ops@example.com", authentication: signIn }],
});
new c.Participant("orders", { type: "custom_bot", application: bot });
new c.Channel("web", { type: "custom.web", displayName: "Web chat", icon: "aVZCT1J3MEtHZ28=" });
`;

const imports = (from: string, isJavaScript: boolean): string =>
  isJavaScript
    ? `const pulumi = require("@pulumi/pulumi");\nconst c = require("${from}");\n`
    : `import * as pulumi from "@pulumi/pulumi";\nimport * as c from "${from}";\n`;

/** A library between the program and the package: the program does not depend on the package itself. */
const library = "conversation-library";

const writeLibrary = (folder: string, tarball: string): string => {
  const path = join(folder, "library");
  mkdirSync(path, { recursive: true });
  const manifest = {
    name: library,
    version: "1.0.0",
    main: "index.js",
    types: "index.d.ts",
    dependencies: { "pulumi-conversation": `file:${tarball}` },
    peerDependencies: { "@pulumi/pulumi": "*" },
  };
  writeFileSync(join(path, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(path, "index.js"), 'module.exports = require("pulumi-conversation");\n');
  writeFileSync(join(path, "index.d.ts"), 'export * from "pulumi-conversation";\n');
  return path;
};

const compilerOptions = ({ program, typescript }: Combination) => ({
  strict: true,
  target: "es2022",
  outDir: "out",
  types: ["node"],
  skipLibCheck: false,
  ...(program === "ESM" || typescript === "6"
    ? { module: "nodenext", moduleResolution: "nodenext" }
    : // What Pulumi's own template had for years.
      { module: "commonjs", moduleResolution: "node10" }),
});

/** Commands of the three package managers that install what a manifest says. */
export const installCommands: Readonly<Record<string, readonly string[]>> = {
  npm: ["npm", "install", "--no-audit", "--no-fund", "--install-links"],
  pnpm: ["npx", "--yes", "pnpm@10", "install"],
  yarn: ["npx", "--yes", "@yarnpkg/cli-dist@4", "install"],
};

/**
 * Writes the project of one combination. TypeScript is compiled before it runs, so that every Pulumi runs it.
 *
 * @param tarball the package as it would be published
 * @returns whether there is something to compile
 */
export const writeMatrixProject = (folder: string, row: Combination, tarball: string): boolean => {
  const isJavaScript = row.program === "JavaScript";
  const from = row.place === "direct" ? "pulumi-conversation" : library;
  const path = row.place === "direct" ? tarball : writeLibrary(folder, tarball);
  const main = isJavaScript ? "index.js" : "out/index.js";
  const manifest = {
    name: "matrix",
    version: "1.0.0",
    private: true,
    main,
    type: row.program === "ESM" ? "module" : "commonjs",
    dependencies: { "@pulumi/pulumi": row.sdk, [from]: `file:${path}` },
    devDependencies: {
      "@types/node": "^24.0.0",
      typescript: typescriptVersions[row.typescript],
    },
  };
  const source = imports(from, isJavaScript) + body;
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  writeFileSync(join(folder, isJavaScript ? "index.js" : "index.ts"), source);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: compilerOptions(row), files: ["index.ts"] }),
  );
  writeFileSync(join(folder, "Pulumi.yaml"), `name: matrix\nruntime: nodejs\nmain: ${main}\n`);
  // Yarn's own way of installing, without node_modules, runs no dynamic providers.
  writeFileSync(
    join(folder, ".yarnrc.yml"),
    "nodeLinker: node-modules\nenableTelemetry: false\nenableImmutableInstalls: false\nenableScripts: true\n",
  );
  writeFileSync(join(folder, "pnpm-workspace.yaml"), "onlyBuiltDependencies:\n  - protobufjs\n");
  return !isJavaScript;
};
