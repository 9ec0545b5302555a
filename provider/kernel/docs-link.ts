import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConversationErrorCode } from "./errors.js";
import { isObject } from "./json.js";
import { parseJson } from "./json-text.js";
import { packageName, packageRoot, packageVersion } from "./package-version.js";

const repository = (): string | undefined => {
  const manifest = parseJson(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  const named = isObject(manifest) ? manifest.repository : undefined;
  const url = isObject(named) ? named.url : undefined;
  return typeof url === "string" ? url.replace(/^git\+/, "").replace(/\.git$/, "") : undefined;
};

/**
 * Where a page of the documentation is read: in the repository, at this release, where the package
 * names one; else in the package's own folder, which carries the same pages.
 *
 * @param page such as `policies.md#account-protected`
 */
export const docsLink = (page: string): string => {
  const address = repository();
  return address
    ? `${address}/blob/v${packageVersion()}/docs/${page}`
    : `node_modules/${packageName}/docs/${page}`;
};

/** A sentence that leads from a message to what the documentation says about its code. */
export const moreAbout = (code: ConversationErrorCode): string =>
  `More: ${docsLink(`troubleshooting.md#${code.toLowerCase()}`)}`;
