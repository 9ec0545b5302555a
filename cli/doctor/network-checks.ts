import { existsSync } from "node:fs";
import { isObject } from "../../provider/kernel/json.js";
import { isLoopback } from "../../provider/service/settings/setting-rules.js";
import { type DoctorCheck, fail, ok, warn } from "./check.js";

/** Where the environment names a proxy, as other tools read it: the lower-case name first. */
const proxyVariables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/** The proxy that calls go through and the variable that holds it; undefined where they go straight to the service. */
const proxySetting = (env: NodeJS.ProcessEnv) => {
  const variable = proxyVariables.find((name) => env[name]);
  return variable === undefined ? undefined : { variable, text: env[variable] ?? "" };
};

/** A failure and what caused it; several addresses of one host fail as a group. */
const chainOf = (error: unknown, depth = 0): readonly unknown[] => {
  if (depth > 4 || typeof error !== "object" || error === null) return [];
  const inner = error instanceof AggregateError ? error.errors : [];
  const cause = "cause" in error ? [error.cause] : [];
  return [error, ...[...inner, ...cause].flatMap((each) => chainOf(each, depth + 1))];
};

const portOf = ({ port, protocol }: URL): number =>
  Number(port) || (protocol === "https:" ? 443 : 80);

/** Whether one failure of a connection is about this address: the engine of Node tells host or port. */
const isAbout = (failure: unknown, proxy: URL, target: URL): boolean => {
  const { hostname, port, message } = isObject(failure) ? failure : {};
  const text = failure instanceof Error ? failure.message : String(message ?? "");
  return (
    (hostname === proxy.hostname && proxy.hostname !== target.hostname) ||
    (port === portOf(proxy) && portOf(proxy) !== portOf(target)) ||
    text.includes(`${proxy.hostname}:${portOf(proxy)}`)
  );
};

const refusedTunnel = /Proxy response \((\d{3})\)/;

/** What a failed call says of the proxy that it went through; undefined where it is not the proxy's. */
export const proxyFailure = (
  error: unknown,
  url: string,
  env: NodeJS.ProcessEnv,
): string | undefined => {
  const setting = proxySetting(env);
  const target = new URL(url);
  if (!setting || !URL.canParse(setting.text) || isLoopback(target.hostname)) return undefined;
  const proxy = new URL(setting.text);
  const shown = `the proxy ${proxy.host} (${setting.variable})`;
  const chain = chainOf(error);
  const texts = chain.map((each) => (each instanceof Error ? each.message : ""));
  const status = texts.map((text) => refusedTunnel.exec(text)?.[1]).find(Boolean);
  if (status) return `${shown} refused to connect to ${target.host} (${status})`;
  const failure = chain.find((each) => isAbout(each, proxy, target));
  if (failure === undefined) return undefined;
  const code = isObject(failure) && typeof failure.code === "string" ? ` (${failure.code})` : "";
  return `${shown} cannot be reached${code}, so nothing was sent to ${target.host}`;
};

/** What to do about a proxy that fails. */
export const proxyAdvice =
  "Start or correct the proxy; where the service can be reached without it, name its host in NO_PROXY.";

/** A proxy address without the credentials that it may carry. */
const shownProxy = (address: string): string =>
  URL.canParse(address) ? new URL(address).host : "an address that cannot be read";

/** Proxy settings that the service client follows. */
export const checkProxy = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const proxy = proxySetting(env)?.text;
  if (!proxy) return ok("proxy", "none: calls go straight to the service");
  const except = env.no_proxy || env.NO_PROXY;
  const message = `calls go through ${shownProxy(proxy)}${except ? `, except for ${except}` : ""}`;
  if (URL.canParse(proxy)) return ok("proxy", message);
  return fail(
    "proxy",
    message,
    "Set HTTPS_PROXY to an address such as http://proxy.example.com:8080.",
  );
};

/** Certificates that Node trusts beside its own, and whether it checks them at all. */
export const checkCertificates = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0")
    return warn(
      "certificates",
      "NODE_TLS_REJECT_UNAUTHORIZED=0: certificates are not checked, credentials can be stolen",
      "Unset it; trust a company's own authority with NODE_EXTRA_CA_CERTS=<file> instead.",
    );
  if (extra && !existsSync(extra))
    return fail(
      "certificates",
      `NODE_EXTRA_CA_CERTS names ${extra}, which does not exist`,
      "Correct the path.",
    );
  return ok("certificates", extra ? `Node's own and those of ${extra}` : "Node's own");
};
