import { isConversationError } from "../../provider/kernel/errors.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import { allOperations, knownScopes, type Operation } from "../../provider/service/operations.js";
import { type Settings, settingNames } from "../../provider/service/settings.js";
import { endpointName, httpTransport, proxySetting } from "../../provider/service/transport.js";
import { messageOf } from "../command.js";
import { withCount } from "../terminal/columns.js";
import { type DoctorCheck, fail, ok, skipped, warn } from "./setting-checks.js";

/** A proxy URL without the credentials that it may carry. */
const shownProxy = (address: string): string =>
  URL.canParse(address) ? new URL(address).host : "an invalid URL";

export const checkProxy = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const { variable, text: proxy } = proxySetting(env) ?? {};
  if (!proxy) return ok("proxy", "none: calls go directly to the service");
  const except = env.no_proxy || env.NO_PROXY;
  const message = `calls use the proxy ${shownProxy(proxy)}${except ? `, except calls to ${except}` : ""}`;
  if (URL.canParse(proxy)) return ok("proxy", message);
  return fail("proxy", message, `Set ${variable} to a URL such as http://proxy.example.com:8080.`);
};

const shownOperations = 5;

/** Whether scopes allow an operation; undefined if the token URL does not name them. */
const isAllowed = (operation: Operation, scopes: readonly string[] | undefined): boolean =>
  scopes === undefined || operation.scopes.some((scope) => scopes.includes(scope));

/** Which operations the granted scopes omit. */
export const checkScopes = (
  scopes: readonly string[] | undefined,
  profile?: string,
): DoctorCheck => {
  const name = "scopes";
  if (scopes === undefined)
    return skipped(name, "the token response does not list the granted scopes");
  const refused = allOperations().filter((operation) => !isAllowed(operation, scopes));
  if (refused.length === 0) return ok(name, `${scopes.length} granted: every operation is allowed`);
  const shown = refused.slice(0, shownOperations).map(({ title }) => title);
  const more = refused.length > shown.length ? `, and ${refused.length - shown.length} more` : "";
  const needed = [...new Set(refused.flatMap(({ scopes: [first] }) => first ?? []))];
  return warn(
    name,
    `the service would refuse ${withCount(refused.length, "operation")}: ${shown.join(", ")}${more}`,
    `If this client needs them, grant these scopes to it and request them in ${settingNames("scope", profile).config}: ${needed.join(" ")}`,
  );
};

const clockWarnSeconds = 30;

/** How far this machine's clock is from the service's. @param theirs undefined if it sends none */
export const checkClock = (theirs: number | undefined, now: number): DoctorCheck => {
  const name = "clock";
  if (theirs === undefined) return skipped(name, "the service sends no Date header");
  const seconds = Math.round((now - theirs) / 1000);
  const apart = `${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the service's clock`;
  if (Math.abs(seconds) > clockWarnSeconds)
    return warn(
      name,
      `this machine's clock is ${apart}`,
      "Synchronize this machine's clock (NTP).",
    );
  return ok(name, Math.abs(seconds) <= 1 ? "the same time as the service" : apart);
};

/** One harmless call: a list that the granted scopes allow. */
const checkService = async (
  service: Service,
  scopes: readonly string[] | undefined,
): Promise<readonly DoctorCheck[]> => {
  const operation = allOperations().find(
    (known) => known.method === "GET" && !known.template.includes("{") && isAllowed(known, scopes),
  );
  if (!operation) {
    const why = "no granted scope allows list calls";
    return [skipped("service", why), skipped("clock", why)];
  }
  const judge = async (): Promise<DoctorCheck> => {
    try {
      const { status } = await service.request(operation);
      return ok("service", `${endpointName(operation)} returned ${status}`);
    } catch (error) {
      const status = isConversationError(error) ? error.details.status : undefined;
      return (status === 403 || status === 429 ? warn : fail)("service", messageOf(error));
    }
  };
  const judged = await judge();
  return [judged, checkClock(service.now(), Date.now())];
};

const callTimeoutMs = 15_000;

/** Everything that needs the service: one call for a token and one list, never repeated. */
export const checkConnection = async (
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Promise<readonly DoctorCheck[]> => {
  const service = connectService(settings, {
    transport: httpTransport({ callTimeoutMs, environment }),
    pace: (_, attempt) => attempt(),
    retry: { retries: 0 },
  });
  try {
    const { scopes: granted } = await service.token();
    const scopes = knownScopes(granted);
    return [
      ok("token", `issued by ${settings.tokenUrl}`),
      checkScopes(scopes, settings.profile),
      ...(await checkService(service, scopes)),
    ];
  } catch (error) {
    return [fail("token", messageOf(error)), ...skippedAfterToken("no token")];
  } finally {
    await service.close();
  }
};

export const skippedAfterToken = (why: string): readonly DoctorCheck[] =>
  ["scopes", "service", "clock"].map((name) => skipped(name, why));
