import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const main = join(__dirname, "..", "..", "dist", "provider", "plugin", "main.js");

/** Puts the plugin into a project as an executable. @returns its folder */
export const deliverPlugin = (folder: string): string => {
  const place = join(folder, "plugin");
  const executable = join(place, "pulumi-resource-conversation");
  mkdirSync(place, { recursive: true });
  writeFileSync(executable, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(executable, 0o755);
  return place;
};

/** Settings of a project that uses the plugin in a folder. */
export const pluginSettings = (place: string) => ({
  name: "shop",
  runtime: "nodejs",
  main: "index.js",
  plugins: { providers: [{ name: "conversation", path: place }] },
});
