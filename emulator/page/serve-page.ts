import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { packageRoot } from "../../provider/kernel/package.js";
import { type ServiceResponse, sendResponse } from "../http/exchange.js";

/** The path under which the page's files are served. */
const pagePath = "/page";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * The page runs only its own modules and talks only to this server. The content of a message or a
 * name cannot become code: nothing inline runs, and no text can be turned into elements.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const safeHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
} as const;

/** The files' answers, by path: as they are in the repository and the package, there is nothing to build. */
const readPage = (): ReadonlyMap<string, ServiceResponse> => {
  const folder = join(packageRoot(), "emulator", "page", "browser");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return new Map(
    names.flatMap((name): [string, ServiceResponse][] => {
      const type = contentTypes[extname(name)];
      if (type === undefined) return [];
      const body = readFileSync(join(folder, name));
      const path = name === "index.html" ? "/" : `${pagePath}/${name.replaceAll("\\", "/")}`;
      return [[path, { status: 200, headers: { "content-type": type }, body }]];
    }),
  );
};

let known: ReadonlyMap<string, ServiceResponse> | undefined;

/** Whether a path is the page's own path, or one for the page's files. */
export const isPagePath = (path: string): boolean =>
  path === "/" || path.startsWith(`${pagePath}/`);

const refuse = (status: number, text: string): ServiceResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: `${text}\n`,
});

const answerPage = (method: string, path: string, isAllowed: boolean): ServiceResponse => {
  if (!isAllowed) return refuse(403, "The page is available only on this machine.");
  known ??= readPage();
  const file = ["GET", "HEAD"].includes(method) ? known.get(path) : undefined;
  return file ?? refuse(404, "The page has no such file.");
};

/** Serves the page and its files. @param isAllowed whether the caller may see it */
export const servePage = (
  { method = "" }: IncomingMessage,
  response: ServerResponse,
  path: string,
  isAllowed: boolean,
): void => {
  const answer = answerPage(method, path, isAllowed);
  sendResponse(response, { ...answer, headers: { ...safeHeaders, ...answer.headers } });
};
