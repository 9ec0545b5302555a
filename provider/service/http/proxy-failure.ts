import { isObject } from "../../kernel/json.js";
import { isLoopback } from "../settings/setting-rules.js";
import type { ProxyEnvironment } from "./proxy-agent.js";

/** Where the environment names a proxy, as other tools read it: the lower-case name first. */
const variablesFor = (protocol: string): readonly string[] => {
  const http = ["http_proxy", "HTTP_PROXY"];
  return protocol === "http:" ? http : ["https_proxy", "HTTPS_PROXY", ...http];
};

/** The proxy that calls to an address go through, and the variable that holds it; undefined where they go straight. */
export const proxySetting = (environment: ProxyEnvironment, protocol = "https:") => {
  const variable = variablesFor(protocol).find((name) => environment[name]);
  return variable === undefined ? undefined : { variable, text: environment[variable] ?? "" };
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
  target: URL,
  environment: ProxyEnvironment,
): string | undefined => {
  const setting = proxySetting(environment, target.protocol);
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
  "start or correct the proxy; where the service can be reached without it, name its host in NO_PROXY";
