import { z } from "zod";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { rateOf } from "../../../provider/pacing/plan/plan-rates.js";
import type { Answer } from "../../../provider/service/http/answers.js";
import type { Method } from "../../../provider/service/http/operations.js";
import type { Pace } from "../../../provider/service/http/pace.js";
import { tokenAddress } from "../../../provider/service/settings/setting-rules.js";
import { addressText, assertJson, callOptions, checkedInput } from "../input-schemas.js";
import { withoutUndefined } from "../json-members.js";
import type { Connection } from "./connection.js";

/** One call of another service of the tenant (specification §8.3, §9). */
export interface ServiceCall {
  /** A service with known rates, such as `Case Manager`, in any case. */
  readonly service: string;
  /** `v3` or `v4`, as far as the service has it. */
  readonly version: string;
  /**
   * Base address of the service, which ends with the version. No document tells how it follows from
   * the one of the conversation service, so it has to be given; the access token goes there.
   */
  readonly baseUrl: string;
  /** HTTP method. */
  readonly method: Method;
  /** Path template below the base address, such as `/portals/{portalID}/search/typeahead`: names the rate bucket. */
  readonly path: string;
  /** Values of the placeholders. */
  readonly params?: Readonly<Record<string, string>>;
  /** Members of the `?` part, in their order. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends the waiting for a turn; a write that was sent is waited for. */
  readonly signal?: AbortSignal;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies readonly Method[];

const serviceCall = callOptions.extend({
  service: addressText,
  version: addressText,
  baseUrl: addressText,
  method: z.enum(methods, `must be one of: ${methods.join(", ")}`),
  path: addressText,
  params: z.record(z.string(), addressText).optional(),
  query: z
    .record(
      addressText,
      z.union([addressText, z.number()], "must be text or a number, with whole characters"),
    )
    .optional(),
  body: z.unknown().optional(),
});

/** A copy of a call, checked as far as its members go. */
const checkedCall = (given: ServiceCall): ServiceCall => {
  const doing = "call another service";
  const { signal, params, query, ...rest } = checkedInput(doing, "the call", serviceCall, given);
  assertJson(doing, "body", rest.body);
  return { ...rest, ...withoutUndefined({ signal, params, query }) };
};

const invalid = (call: ServiceCall, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not call ${call.service} ${call.version}: ${call.method} ${call.path}: ${rule}. Nothing was sent.`,
  );

const baseOf = (call: ServiceCall): string => {
  const parsed = tokenAddress(call.baseUrl);
  if ("rule" in parsed) throw invalid(call, `baseUrl ${parsed.rule}`);
  const base = parsed.value.replace(/\/$/, "");
  if (base.includes("?")) throw invalid(call, 'baseUrl must hold no "?" part');
  if (base.endsWith(`/${call.version}`)) return base;
  throw invalid(call, `baseUrl must end with the version segment /${call.version}`);
};

const pathOf = (call: ServiceCall): string => {
  if (!/^(\/[A-Za-z0-9._~-]+|\/\{[A-Za-z0-9]+\})+$/.test(call.path)) {
    throw invalid(call, "path must look like /cases/{id}");
  }
  return call.path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = call.params && Object.hasOwn(call.params, name) ? call.params[name] : undefined;
    if (typeof value !== "string" || value === "" || /^\.{1,2}$/.test(value)) {
      throw invalid(call, `params.${name} must be a text that can stand in a path`);
    }
    return encodeURIComponent(value);
  });
};

/** Calls other services of the tenant with the same transport, token, repeats and pacing. */
export const otherServices = (connection: Connection): ((call: ServiceCall) => Promise<Answer>) => {
  const paces = new Map<string, Pace>();
  const paceOf = ({ service, version }: ServiceCall, baseUrl: string): Pace => {
    const known = paces.get(`${service} ${baseUrl}`);
    if (known) return known;
    const made = connection.pace({
      baseUrl,
      rates: ({ method, template }, plan) => rateOf({ service, version, plan, method, template }),
    });
    paces.set(`${service} ${baseUrl}`, made);
    return made;
  };
  return async (given) => {
    const call = checkedCall(given);
    const { service, version, method, path: template } = call;
    // Also without pacing: an unknown service or version is a mistake.
    rateOf({ service, version, plan: "enterprise", method, template });
    const baseUrl = baseOf(call);
    const title = `call ${service} ${version}`;
    const operation = {
      method,
      template: pathOf(call),
      title,
      scopes: [],
      rate: "standard",
    } as const;
    const pace = paceOf(call, baseUrl);
    // The bucket belongs to the template, not to the path of one object (specification §8.1 rule 1).
    const endpoint = { method, template };
    const paced: Pace = (_endpoint, attempt, signal) => pace(endpoint, attempt, signal);
    const request = connection.request(baseUrl, paced, endpoint);
    const { query, body, signal } = call;
    return request(operation, withoutUndefined({ query, body, signal }));
  };
};
