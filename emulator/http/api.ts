import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "../../provider/kernel/json.js";
import { timestamp } from "../clock.js";
import type { Fault } from "../control/faults.js";
import { interfere, silence } from "../control/interfere.js";
import { sendAnswer, sendSpoiled } from "../deliver.js";
import { operations } from "../objects/collections.js";
import type { World } from "../objects/world.js";
import { carryOutRuntime } from "../runtime/runtime-operations.js";
import type { Grant } from "../token/tokens.js";
import { type Endpoint, type Match, matchPath } from "./endpoints.js";
import { parseBody, readBytes } from "./read-body.js";
import { type Answer, Refusal } from "./refusal.js";
import { throttle } from "./throttle.js";

/** A request to the service, its path below the base path. */
export interface ApiRequest {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A call on its way; filled in as far as it gets, for the log. */
interface Course {
  template: string;
  clientId?: string;
  fault?: Fault;
}

const endpointOf = (match: Match | undefined, method: string): Endpoint => {
  if (!match) throw new Refusal(404, "404-100", "There is no such path.");
  const endpoint = match.methods.get(method);
  if (endpoint) return endpoint;
  const allow = [...match.methods.keys()].join(", ");
  throw new Refusal(405, "405-100", `${match.template} allows ${allow}.`, [], { allow });
};

const grantFor = (world: World, { headers }: IncomingMessage): Grant => {
  const [scheme = "", token = "", ...more] = (headers.authorization ?? "").trim().split(/ +/);
  const grant =
    scheme.toLowerCase() === "bearer" && more.length === 0
      ? world.tokens.grantOf(token)
      : undefined;
  if (grant) return grant;
  throw new Refusal(
    401,
    "401-104",
    "The Authorization header is missing, invalid or expired.",
    [],
    {
      "www-authenticate": "Bearer",
    },
  );
};

const assertScope = ({ scopes }: Endpoint, grant: Grant): void => {
  if (grant.subject !== "client") {
    throw new Refusal(403, "403-112", "Users may not call this operation; it is for servers.");
  }
  if (scopes.some((scope) => grant.scopes.includes(scope))) return;
  throw new Refusal(403, "403-197", `The token lacks the scope ${scopes.join(" or ")}.`);
};

const takesBody = (endpoint: Endpoint): boolean =>
  endpoint.method === "POST" || endpoint.method === "PUT";

const carryOut = (
  world: World,
  endpoint: Endpoint,
  api: ApiRequest,
  id: string,
  bytes: Buffer,
  fault?: Fault,
): Answer => {
  if (!endpoint.setUp) return carryOutRuntime(world, endpoint.name, api.request, id, bytes);
  const { definition, action } = endpoint.setUp;
  if (fault?.kind === "forbidden-list")
    throw new Refusal(403, "403-197", "The list is not allowed.");
  // What is not there is said before what is wrong with the body.
  if (action === "update" && !world.store.get(definition.collection, id))
    operations.get(world, { definition, id, query: api.query, body: {} });
  const body: JsonObject = takesBody(endpoint)
    ? parseBody(bytes, api.request.headers["content-type"])
    : {};
  const staleMs = fault?.kind === "stale-list" ? fault.ms : undefined;
  return operations[action](world, {
    definition,
    id,
    query: api.query,
    body,
    ...(staleMs === undefined ? {} : { staleMs }),
  });
};

/**
 * In the order in which the service says no: path, token, rate, scope, object, body. A fault comes
 * after the rate, so that a call which is refused anyway uses up none, and a spoiled one is counted.
 */
const answerTo = async (
  world: World,
  api: ApiRequest,
  response: ServerResponse,
  course: Course,
): Promise<Answer | typeof silence> => {
  const bytes = await readBytes(api.request);
  const match = matchPath(api.path);
  course.template = match?.template ?? course.template;
  const endpoint = endpointOf(match, api.request.method ?? "");
  const grant = grantFor(world, api.request);
  course.clientId = grant.clientId;
  const throttled = throttle(world, endpoint);
  if (throttled) return throttled;
  const fault = world.faults.take(endpoint.name);
  if (fault) course.fault = fault;
  const interfered = await interfere(fault, response);
  if (interfered) return interfered;
  assertScope(endpoint, grant);
  return carryOut(world, endpoint, api, match?.id ?? "", bytes, fault);
};

/** What goes wrong in the emulator itself, such as a full disk, is an unexpected failure (500-100). */
const refusalOf = (error: unknown, world: World, { headers }: IncomingMessage): Answer => {
  const refusal =
    error instanceof Refusal
      ? error
      : new Refusal(500, "500-100", `The emulator failed: ${String(error)}`);
  const asked = headers[`x-${world.switches.platformName}-error-message`];
  return refusal.answer(String(asked).toLowerCase() === "yes");
};

/** Serves one call of the service and keeps it in the log. */
export const serveApi = async (
  world: World,
  api: ApiRequest,
  response: ServerResponse,
): Promise<void> => {
  const started = performance.now();
  const course: Course = { template: "(none)" };
  const answer = await answerTo(world, api, response, course).catch((error) =>
    refusalOf(error, world, api.request),
  );
  if (answer !== silence) {
    if (course.fault) sendSpoiled(response, answer, course.fault);
    else sendAnswer(response, answer);
  }
  world.log.add({
    at: timestamp(world.clock.now()),
    method: api.request.method ?? "",
    template: course.template,
    path: api.path.slice(0, 300),
    status: answer === silence ? 0 : answer.status,
    ms: Math.round(performance.now() - started),
    ...(course.clientId === undefined ? {} : { clientId: course.clientId }),
  });
};
