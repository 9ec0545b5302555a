import { existsSync } from "node:fs";
import { isConversationError } from "../../provider/kernel/errors.js";
import {
  allOperations,
  knownScopes,
  type Operation,
  runtimeOperations,
  scopes as scopeNames,
} from "../../provider/service/operations.js";
import { endpointName } from "../../provider/service/pace.js";
import { type Settings, settingLabel, settingNames } from "../../provider/service/settings.js";
import { readGrant, type TokenGrant, tokenRequest } from "../../provider/service/token.js";
import {
  connectionFault,
  type HttpResponse,
  httpTransport,
  proxySetting,
  type Transport,
  TransportFailure,
} from "../../provider/service/transport.js";
import { messageOf } from "../command.js";
import { withCount } from "../terminal/columns.js";
import { type DoctorCheck, fail, ok, skipped, warn } from "./setting-checks.js";

/** A proxy URL without the credentials that it may carry. */
const shownProxy = (address: string): string =>
  URL.canParse(address) ? new URL(address).host : "an invalid URL";

/** Proxy settings that the service client follows. */
export const checkProxy = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const { variable, text: proxy } = proxySetting(env) ?? {};
  if (!proxy) return ok("proxy", "none: calls go directly to the service");
  const except = env.no_proxy || env.NO_PROXY;
  const message = `calls use the proxy ${shownProxy(proxy)}${except ? `, except calls to ${except}` : ""}`;
  if (URL.canParse(proxy)) return ok("proxy", message);
  return fail("proxy", message, `Set ${variable} to a URL such as http://proxy.example.com:8080.`);
};

/** Certificates that Node.js trusts in addition to its own, and whether it checks any at all. */
export const checkCertificates = (env: NodeJS.ProcessEnv): DoctorCheck => {
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0")
    return warn(
      "certificates",
      "NODE_TLS_REJECT_UNAUTHORIZED=0: calls to the service still check certificates, but your program's other code does not",
      "Unset the variable. To trust your company's certificate authority, set NODE_EXTRA_CA_CERTS=<file>.",
    );
  if (extra && !existsSync(extra))
    return fail(
      "certificates",
      `NODE_EXTRA_CA_CERTS specifies ${extra}, which does not exist`,
      "Correct the path.",
    );
  return ok(
    "certificates",
    extra ? `the Node.js defaults and the certificates in ${extra}` : "the Node.js defaults",
  );
};

const CALL_MS = 15_000;
const CLOCK_WARN_S = 30;
const HEADERS = { accept: "application/json", "user-agent": "pulumi-conversation doctor" };
const SHOWN_OPERATIONS = 5;

/** Scopes held, if the token URL names them: undefined if it does not. */
const isAllowed = (operation: Operation, scopes: readonly string[] | undefined): boolean =>
  scopes === undefined || operation.scopes.some((scope) => scopes.includes(scope));

/** Whether these scopes allow everything that a bot does, and nothing that Pulumi does. */
const isForBotsOnly = (scopes: readonly string[]): boolean => {
  const runtime: readonly Operation[] = Object.values(runtimeOperations);
  const titles = new Set(runtime.map(({ title }) => title));
  return allOperations().every((each) => isAllowed(each, scopes) === titles.has(each.title));
};

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
  if (isForBotsOnly(scopes))
    return warn(
      name,
      "this client can run a bot, but cannot set up the account with Pulumi",
      `For a bot, nothing is missing. For Pulumi, use another client: reading the account requires the scope ${scopeNames.read}, and changing it requires ${scopeNames.manage}`,
    );
  const shown = refused.slice(0, SHOWN_OPERATIONS).map(({ title }) => title);
  const more = refused.length > shown.length ? `, and ${refused.length - shown.length} more` : "";
  const needed = [...new Set(refused.flatMap(({ scopes: [first] }) => first ?? []))];
  return warn(
    name,
    `the service would refuse ${withCount(refused.length, "operation")}: ${shown.join(", ")}${more}`,
    `Grant these scopes to the client and request them in ${settingNames("scope", profile).config}: ${needed.join(" ")}`,
  );
};

/** How far this machine's clock is from the service's, by the Date header of a response. */
export const checkClock = (date: unknown, now: number): DoctorCheck => {
  const name = "clock";
  const theirs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  if (Number.isNaN(theirs)) return skipped(name, "the service sends no Date header");
  const seconds = Math.round((now - theirs) / 1000);
  const apart = `${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the service's clock`;
  if (Math.abs(seconds) > CLOCK_WARN_S)
    return warn(
      name,
      `this machine's clock is ${apart}`,
      "Synchronize this machine's clock (NTP).",
    );
  return ok(name, Math.abs(seconds) <= 1 ? "the same time as the service" : apart);
};

const reason = (error: unknown, url: string): string =>
  error instanceof TransportFailure ? connectionFault(error, url).text : messageOf(error);

interface Connection {
  readonly settings: Settings;
  readonly transport: Transport;
}

const checkToken = async ({
  settings,
  transport,
}: Connection): Promise<{ check: DoctorCheck; grant?: TokenGrant }> => {
  try {
    const grant = readGrant(settings, await transport.send(tokenRequest(settings, HEADERS)));
    const lifetime = grant.expiresIn === undefined ? "" : `, valid for ${grant.expiresIn} s`;
    return { check: ok("token", `issued by ${settings.tokenUrl}${lifetime}`), grant };
  } catch (error) {
    // Such an error itself says what to check.
    const advice = isConversationError(error)
      ? ""
      : `Check the setting ${settingLabel("tokenUrl", settings.profile)}.`;
    return { check: fail("token", reason(error, settings.tokenUrl), advice) };
  }
};

const judgeAnswer = ({ status }: HttpResponse, call: string): DoctorCheck => {
  const name = "service";
  const said = `${call} returned ${status}`;
  if (status === 200) return ok(name, said);
  if (status === 401)
    return fail(name, said, "Check that tokenUrl and baseUrl belong to the same service.");
  if (status === 403) return warn(name, said, "The client lacks a scope or permission.");
  if (status === 404) return fail(name, said, "Check the path in baseUrl.");
  if (status === 429) return warn(name, said, "The rate limit is exhausted. Try again later.");
  return fail(name, said, "Check baseUrl. If it is correct, the service has a problem.");
};

/** One harmless call with the token: a list that the granted scopes allow. */
const checkService = async (
  { settings, transport }: Connection,
  accessToken: string,
  scopes: readonly string[] | undefined,
): Promise<DoctorCheck[]> => {
  const operation = allOperations().find(
    (known) => known.method === "GET" && !known.template.includes("{") && isAllowed(known, scopes),
  );
  if (!operation) {
    const unknown = skipped("clock", "no call was made");
    return [skipped("service", "no granted scope allows list calls"), unknown];
  }
  const url = settings.baseUrl + operation.template;
  const headers = { ...HEADERS, authorization: `Bearer ${accessToken}` };
  const label = settingLabel("baseUrl", settings.profile);
  try {
    const response = await transport.send({ method: "GET", url, headers });
    const clock = checkClock(response.headers.date, Date.now());
    return [judgeAnswer(response, endpointName(operation)), clock];
  } catch (error) {
    const failed = fail("service", reason(error, url), `Check the setting ${label}.`);
    return [failed, skipped("clock", "the service did not respond")];
  }
};

/** Everything that needs the service: one call for a token and one list. */
export const checkConnection = async (
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<readonly DoctorCheck[]> => {
  const transport = httpTransport({ callTimeoutMs: CALL_MS, environment: env });
  try {
    const connection = { settings, transport };
    const { check, grant } = await checkToken(connection);
    if (!grant) return [check, ...skippedAfterToken("no token")];
    const { accessToken } = grant;
    const scopes = knownScopes(grant.scopes);
    const rest = await checkService(connection, accessToken, scopes);
    return [check, checkScopes(scopes, settings.profile), ...rest];
  } finally {
    await transport.close();
  }
};

/** The checks that cannot run, and why. */
export const skippedAfterToken = (why: string): readonly DoctorCheck[] =>
  ["scopes", "service", "clock"].map((name) => skipped(name, why));
