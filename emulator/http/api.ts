import type { IncomingMessage, ServerResponse } from "node:http";
import { timestamp } from "../clock.js";
import { beforeOperation, sendWithFault } from "../control/fault-effects.js";
import type { FaultRule } from "../control/faults.js";
import type { EmulatedService } from "../service.js";
import { assertScope } from "../token/scopes.js";
import { readBody } from "./request-body.js";
import {
  failureOf,
  HttpError,
  noResponse,
  reasonOf,
  type ServiceResponse,
  sendResponse,
} from "./response.js";
import { type PathMatch, routeFor } from "./routes.js";

/** A request to the service, or to another one of the tenant. */
interface ApiRequest {
  readonly request: IncomingMessage;
  /** Below the base path of the service. */
  readonly path: string;
  /** The operations of the path; undefined where there are none. */
  readonly match: PathMatch | undefined;
  readonly query: URLSearchParams;
}

/** What is known of a call, for the log and for its answer; filled in as far as the call gets. */
interface CallProgress {
  template: string;
  clientId?: string;
  fault?: FaultRule;
}

/**
 * In the order in which the service says no: path, token, rate, scope, object, body. A fault comes
 * after the rate, so that a call which is refused anyway uses up none, and a spoiled one is counted.
 */
const answer = async (
  service: EmulatedService,
  { request, match, query }: ApiRequest,
  response: ServerResponse,
  progress: CallProgress,
): Promise<ServiceResponse> => {
  progress.template = match?.template ?? progress.template;
  const body = await readBody(request);
  const route = routeFor(match, request.method ?? "");
  const claims = service.tokens.authenticate(request.headers.authorization);
  progress.clientId = claims.clientId;
  const refusal = service.rateLimiter.refusal(route.name, route.rates);
  if (refusal) return refusal;
  const fault = service.faults.take(route.name);
  if (fault) progress.fault = fault;
  const early = fault && (await beforeOperation(fault, response));
  if (early) return early;
  if (route.scopes.length > 0) assertScope(claims, route.scopes);
  const call = { request, query, id: match?.id ?? "", body };
  return route.carryOut(service, { ...call, ...(fault ? { fault } : {}) });
};

/** The answer to a failure; none where the caller went away before all of the call was there. */
const errorResponse = (
  error: unknown,
  { switches }: EmulatedService,
  { headers, complete }: IncomingMessage,
): ServiceResponse => {
  if (!complete && !(error instanceof HttpError)) return noResponse;
  const asked = headers[`x-${switches.platformName}-error-message`];
  return failureOf(error).response(String(asked).toLowerCase() === "yes");
};

const longestPath = 300;

/** A copy: a part of a text keeps the whole of it in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

/** A path as the log keeps it; a short one keeps at most the rest of a short address. */
const loggedPath = (path: string, { url = "" }: IncomingMessage): string =>
  url.length > longestPath ? copied(path.slice(0, longestPath)) : path;

/** Serves one call of the service and keeps it in the log. */
export const serveApi = async (
  service: EmulatedService,
  api: ApiRequest,
  response: ServerResponse,
): Promise<void> => {
  const started = performance.now();
  const progress: CallProgress = { template: "(none)" };
  const answered = await answer(service, api, response, progress).catch((error) =>
    errorResponse(error, service, api.request),
  );
  const { template, clientId, fault } = progress;
  const reason = reasonOf(answered);
  if (fault) sendWithFault(response, answered, fault);
  else if (answered !== noResponse) sendResponse(response, answered);
  service.log.add({
    at: timestamp(service.clock.now()),
    method: api.request.method ?? "",
    template,
    path: loggedPath(api.path, api.request),
    status: answered.status,
    ms: Math.round(performance.now() - started),
    ...(clientId === undefined ? {} : { clientId }),
    ...(reason === undefined ? {} : { reason }),
  });
};
