import { z } from "zod";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { ConversationError } from "../../provider/kernel/errors.js";
import { withoutUndefined } from "../../provider/kernel/json.js";
import { type ServicePaces, servicePaces, waitOutRefusals } from "../../provider/pacing/pacer.js";
import { tokenAddress } from "../../provider/service/addresses.js";
import { type Answer, type Request, serviceRequest } from "../../provider/service/client.js";
import { clientParts } from "../../provider/service/connect.js";
import type { Pace, Wait } from "../../provider/service/pace.js";
import type { Plan } from "../../provider/service/plans.js";
import type { RetryLimits } from "../../provider/service/retry.js";
import {
  readSettings,
  type SettingKey,
  type Settings,
  settingKeys,
  settingNames,
  settingTable,
} from "../../provider/service/settings.js";
import { accessTokens } from "../../provider/service/token.js";
import type { Method } from "../../provider/service/transport.js";
import { type Assets, createAssets } from "./assets.js";
import { type CallHooks, harmlessHook, reportAttempts } from "./call-hooks.js";
import { guardInput } from "./caller-input.js";
import { openContentTransfer } from "./content-transfer.js";
import { type Conversations, createConversations } from "./conversations.js";
import {
  addressText,
  anyFunction,
  type CallOptions,
  callOptions,
  checkInput,
  checkOptions,
  jsonValue,
} from "./input-schemas.js";
import { createMessages, type Messages } from "./messages.js";
import { findServiceLimits } from "./service-rates.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that only resources need. */
const resourceOnly = ["ownershipMark", "put"] as const;

type ResourceOnly = (typeof resourceOnly)[number];

/**
 * Settings for the connection, with the same names as for resources. Omitted settings come from
 * environment variables such as `CONVERSATION_BASE_URL` (or, with `profile: "staging"`,
 * `CONVERSATION_STAGING_BASE_URL`).
 */
export type ConnectionSettings = {
  readonly [K in Exclude<keyof Settings, ResourceOnly>]?: Settings[K] | undefined;
};

/**
 * A running emulator, from `startEmulator` or from the first line of `emulator --json`. Other
 * members are ignored.
 */
export interface RunningEmulator
  extends Readonly<Record<"baseUrl" | "tokenUrl" | "clientId" | "clientSecret", string>> {
  /** Control URL, which distinguishes a running emulator from other connection settings. */
  readonly controlUrl: string;
}

/** Whether these are the addresses of an emulator. */
const isEmulator = (given: ConnectionSettings | RunningEmulator): given is RunningEmulator =>
  "controlUrl" in given && typeof given.controlUrl === "string";

type RuntimeKey = Exclude<SettingKey, ResourceOnly>;

const keys = settingKeys.filter(
  (key): key is RuntimeKey => !resourceOnly.some((other) => other === key),
);

const invalidSettings = (text: string): ConversationError =>
  new ConversationError("SETTINGS_INVALID", `Could not connect: ${text}`);

const assertKnown = (given: ConnectionSettings | RunningEmulator): void => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidSettings("the settings must be an object. Nothing was sent.");
  }
  if ("profile" in given && given.profile !== undefined && typeof given.profile !== "string") {
    throw invalidSettings("profile must be a string. Nothing was sent.");
  }
  if (isEmulator(given)) return;
  const unknown = Object.keys(given).filter((name) => ![...keys, "profile"].includes(name));
  if (unknown.length === 0) return;
  const names = unknown.map((name) => JSON.stringify(name)).join(", ");
  throw invalidSettings(
    `there is no setting ${names}. Nothing was sent. Settings: ${keys.join(", ")}, profile.`,
  );
};

/** The settings as the environment would hold them: what is given wins. */
const writeEnvironment = (given: ConnectionSettings, environment: Environment): Environment =>
  Object.fromEntries(
    keys.map((key) => {
      const name = settingNames(key, given.profile).environment;
      const value: unknown = given[key];
      if (value === undefined || value === null) return [name, environment[name]];
      if (typeof value === "string" || typeof value === "number") return [name, `${value}`];
      throw invalidSettings(`${key} must be a string or a number. Nothing was sent.`);
    }),
  );

/** What is wrong with a setting; undefined if nothing is. */
const findProblem = (key: RuntimeKey, texts: Environment, profile: string | undefined) => {
  const { required, secret, parse } = settingTable[key];
  const name = settingNames(key, profile).environment;
  const text = texts[name] ?? "";
  if (text.trim() === "") {
    const isMissing = required === true;
    return isMissing
      ? { isMissing, line: `  ${key} is missing: pass it to connect, or set ${name}` }
      : undefined;
  }
  const parsed = parse(secret ? text : text.trim());
  if ("value" in parsed) return undefined;
  return { isMissing: false, line: `  ${key} (${name}) ${parsed.rule}` };
};

/**
 * Returns the settings, completed from the environment and validated, without I/O.
 *
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with every broken rule, but
 * without values
 */
export const readRuntimeSettings = (
  settings: ConnectionSettings | RunningEmulator = {},
  environment: Environment = process.env,
): Settings =>
  guardInput("connect", () => {
    assertKnown(settings);
    const given: ConnectionSettings = settings;
    const texts = writeEnvironment(given, environment);
    const problems = keys.flatMap((key) => findProblem(key, texts, given.profile) ?? []);
    if (problems.length > 0) {
      const code = problems.some(({ isMissing }) => isMissing)
        ? "SETTINGS_MISSING"
        : "SETTINGS_INVALID";
      const said = "Could not connect: settings are missing or not valid. Nothing was sent.";
      throw new ConversationError(code, [said, ...problems.map(({ line }) => line)].join("\n"));
    }
    return readSettings({ environment: texts, config: () => undefined }, given.profile);
  });

/**
 * Returns the vendor's own word for `platform`: the one given, the one from the environment, or
 * else `platform` itself.
 */
export const findPlatformName = (given: string | undefined): string => {
  const { parse, default: fallback = "platform" } = settingTable.platformName;
  const text = given ?? process.env[settingNames("platformName").environment];
  if (text !== undefined && typeof text !== "string") {
    throw new ConversationError("SETTINGS_INVALID", "platformName must be a string.");
  }
  if (text === undefined || text.trim() === "") return fallback;
  const parsed = parse(text.trim());
  if ("value" in parsed) return parsed.value;
  throw new ConversationError("SETTINGS_INVALID", `platformName ${parsed.rule}.`);
};

/** Options for a connection. */
export interface ConnectionOptions extends CallHooks {
  /**
   * `plan` (default, except for a running emulator without a plan): calls stay within the rates of
   * the tenant's plan. These rates are shared with your other processes on this machine (Node.js 24
   * or later), or on all machines if `redisUrl` is set. `after-refusal`: calls are sent immediately
   * and wait only after a 429; use it for services without rate limits, such as an emulator.
   */
  readonly pacing?: "plan" | "after-refusal";
  /**
   * Called when a call has to wait for more than 2 s for its endpoint's rate limit, and about every
   * 10 s while it waits.
   */
  readonly onWait?: (wait: Wait) => void;
  /**
   * If no plan is configured, called with the tenant's apparent plan each time that it turns out to
   * be lower than `enterprise`, or than assumed before.
   */
  readonly onPlanGuess?: (plan: Plan) => void;
  /**
   * Called with a message when this process temporarily cannot share the rates with other
   * processes.
   */
  readonly onNotice?: (text: string) => void;
  /** How often and for how long to retry repeatable calls. */
  readonly retry?: Partial<RetryLimits>;
  /** Signal that cancels waiting calls with `CANCELLED`, as `close` does. */
  readonly signal?: AbortSignal;
  /** Environment variables for omitted settings. Default: those of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Replaces the clock in tests. */
  readonly clock?: Clock;
}

const limit = z.number("must be a number").nonnegative("must not be negative").optional();
const anyObject = z
  .custom((value) => typeof value === "object" && value !== null, "must be an object")
  .optional();

const rules = callOptions.extend({
  pacing: z.enum(["plan", "after-refusal"], 'must be "plan" or "after-refusal"').optional(),
  onWait: anyFunction.optional(),
  onPlanGuess: anyFunction.optional(),
  onNotice: anyFunction.optional(),
  onRequest: anyFunction.optional(),
  onResponse: anyFunction.optional(),
  retry: z
    .looseObject(
      { retries: limit, minTimeoutMs: limit, maxTimeoutMs: limit, maxRetryTimeMs: limit },
      "must be an object",
    )
    .optional(),
  environment: z
    .record(z.string(), z.string("must be a string").optional(), "must be an object")
    .optional(),
  clock: anyObject,
});

/**
 * A copy of the options, checked, whose hooks can do no harm: a failing one must not hold up those
 * who wait.
 *
 * @throws ConversationError `INPUT_INVALID` naming the option that cannot be used
 */
const checkConnectionOptions = (options: ConnectionOptions): ConnectionOptions => {
  const copy = checkOptions("connect", rules, options);
  const { onWait, onPlanGuess, onNotice } = copy;
  const hooks = {
    onWait: onWait && harmlessHook("onWait", onWait),
    onPlanGuess: onPlanGuess && harmlessHook("onPlanGuess", onPlanGuess),
    onNotice: onNotice && harmlessHook("onNotice", onNotice),
  };
  return { ...copy, ...withoutUndefined(hooks) };
};

/**
 * One transport, one token, and one set of rate buckets for all services of a tenant. Sends nothing:
 * they are had on first use.
 */
const openConnection = (settings: Settings, options: ConnectionOptions) => {
  const { clock = systemClock, onWait, pacing } = options;
  const onEvent = reportAttempts(options, clock);
  const afterRefusals = (): Pace => waitOutRefusals({ clock, onWait });
  const { parts, close } = clientParts(settings, { ...options, onEvent, pace: afterRefusals() });
  const paces: ServicePaces =
    pacing === "after-refusal"
      ? { pace: afterRefusals, close: async () => {} }
      : servicePaces(settings, { ...options, clock });
  const tokens = accessTokens(parts);
  return {
    onEvent,
    signal: parts.signal,
    pace: paces.pace,
    /** Calls of a service, in the pace given. */
    request: (baseUrl: string, pace: Pace): Request =>
      serviceRequest({ ...parts, settings: { ...settings, baseUrl }, pace }, tokens),
    /** Scopes of the token in use, if the token URL gives them. */
    scopes: () => tokens.last?.scopes,
    /** Ends waiting calls with `CANCELLED` and all connections. */
    close: async () => {
      await Promise.all([close(), paces.close()]);
    },
  };
};

/** A call to another service in the tenant (specification §8.3, §9). */
export interface ServiceCall extends CallOptions {
  /** Name of a service with known rates, such as `Case Manager`. Not case-sensitive. */
  readonly service: string;
  /** API version: `v3` or `v4`, depending on the service. */
  readonly version: string;
  /**
   * Base URL of the service, ending with the version. How to derive it from the conversation
   * service's base URL is not documented. The access token is sent to this URL.
   */
  readonly baseUrl: string;
  /** HTTP method. */
  readonly method: Method;
  /**
   * Path template relative to the base URL, such as `/portals/{portalID}/search/typeahead`. It
   * identifies the rate bucket.
   */
  readonly path: string;
  /** Values for the placeholders in the path. */
  readonly params?: Readonly<Record<string, string>>;
  /** Query parameters, in order. */
  readonly query?: Readonly<Record<string, string | number>>;
  /** Request body, sent as JSON. */
  readonly body?: unknown;
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
      z.union(
        [addressText, z.number()],
        "must be a number, or a string without unpaired surrogates",
      ),
    )
    .optional(),
  body: jsonValue.optional(),
});

const invalidCall = (call: ServiceCall, rule: string): ConversationError =>
  new ConversationError(
    "INPUT_INVALID",
    `Could not call ${call.service} ${call.version}: ${call.method} ${call.path}: ${rule}. Nothing was sent.`,
  );

const checkBase = (call: ServiceCall): string => {
  const parsed = tokenAddress(call.baseUrl);
  if ("rule" in parsed) throw invalidCall(call, `baseUrl ${parsed.rule}`);
  const base = parsed.value.replace(/\/$/, "");
  if (base.includes("?")) throw invalidCall(call, 'baseUrl must not contain "?"');
  if (base.endsWith(`/${call.version}`)) return base;
  throw invalidCall(call, `baseUrl must end with the version segment /${call.version}`);
};

const fillPath = (call: ServiceCall): string => {
  // A segment of dots would lead elsewhere.
  if (!/^(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._~-]+|\/\{[A-Za-z0-9]+\})+$/.test(call.path)) {
    throw invalidCall(call, "path must look like /cases/{id}");
  }
  return call.path.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = call.params && Object.hasOwn(call.params, name) ? call.params[name] : undefined;
    if (typeof value !== "string" || value === "" || /^\.{1,2}$/.test(value)) {
      throw invalidCall(call, `params.${name} must be a string that is valid in a path`);
    }
    return encodeURIComponent(value);
  });
};

/** Calls other services of the tenant with the same transport, token, repeats, and pacing. */
const createServiceCalls = (
  connection: ReturnType<typeof openConnection>,
): ((call: ServiceCall) => Promise<Answer>) => {
  const paces = new Map<string, Pace>();
  const paceOf = ({ service, version }: ServiceCall, baseUrl: string): Pace => {
    // Also without pacing: an unknown service or version is a mistake.
    const limits = findServiceLimits(service, version);
    const key = `${service} ${baseUrl}`;
    const pace = paces.get(key) ?? connection.pace({ baseUrl, limits });
    paces.set(key, pace);
    return pace;
  };
  return async (given) => {
    const doing = "call another service";
    const checked = checkInput(doing, "the call", serviceCall, given);
    // A body that contains itself passes its schema.
    guardInput(doing, () => JSON.stringify(checked.body));
    const { signal, params, query, ...rest } = checked;
    const call: ServiceCall = { ...rest, ...withoutUndefined({ signal, params, query }) };
    const baseUrl = checkBase(call);
    const request = connection.request(baseUrl, paceOf(call, baseUrl));
    const { method, path: template } = call;
    const title = `call ${call.service} ${call.version}`;
    const operation = { method, template, title, scopes: [], rate: "standard" } as const;
    const options = { path: fillPath(call), query, body: call.body, signal };
    const { status, body } = await request(operation, withoutUndefined(options));
    return { status, body };
  };
};

/** A connection to one tenant's conversation service, for an account that is already set up. */
export interface ConversationClient extends AsyncDisposable {
  /** Sends messages, and starts and ends conversations. */
  readonly messages: Messages;
  /** Reads completed conversations. */
  readonly conversations: Conversations;
  /** Uploads, downloads, and deletes assets. */
  readonly assets: Assets;
  /**
   * Calls another service in the tenant with this connection's token, transport, and retries, at the
   * rates in §8.3 of the specification. Every failure is a ConversationError.
   *
   * @example
   * const { body } = await hub.request({
   *   service: "Case Manager", version: "v3", baseUrl: "https://api.example.com/case/v3",
   *   method: "GET", path: "/cases/{id}", params: { id },
   * });
   */
  request(call: ServiceCall): Promise<Answer>;
  /** Cancels waiting calls with `CANCELLED`, and closes all connections. Never fails. */
  close(): Promise<void>;
}

/**
 * Creates a connection to the service. Nothing is sent until the first call, which obtains a token
 * and opens connections.
 *
 * @param settings the settings, or a running emulator; omitted settings come from environment
 * variables such as `CONVERSATION_BASE_URL`. Calls to a running emulator are not paced unless you
 * set `pacing` or a `plan`; with the variables that it prints, they are paced as for the service
 * @throws ConversationError `SETTINGS_MISSING` or `SETTINGS_INVALID` with every broken rule,
 * `INPUT_INVALID` for an invalid option
 *
 * @example
 * const hub = connect();
 * await hub.messages.reply("c-1", { type: "text", text: "Hello", sender: "custom_bot" });
 * await hub.close();
 *
 * @example
 * const hub = connect(await startEmulator());
 */
export const connect = (
  settings: ConnectionSettings | RunningEmulator = {},
  options: ConnectionOptions = {},
): ConversationClient => {
  const checked = checkConnectionOptions(options);
  const read = readRuntimeSettings(settings, checked.environment);
  const { baseUrl, platformName } = read;
  const isUnlimited = isEmulator(settings) && read.plan === undefined;
  const connection = openConnection(read, {
    ...(isUnlimited ? { pacing: "after-refusal" } : {}),
    ...checked,
  });
  const request = connection.request(baseUrl, connection.pace({ baseUrl }));
  const transfer = openContentTransfer(connection.onEvent);
  const close = async (): Promise<void> => {
    await connection.close();
    await transfer.close();
  };
  return {
    messages: createMessages(request, platformName),
    conversations: createConversations(request, platformName),
    assets: createAssets({
      request,
      platformName,
      scopes: connection.scopes,
      baseUrl,
      transfer,
      closing: connection.signal,
    }),
    request: createServiceCalls(connection),
    close,
    [Symbol.asyncDispose]: close,
  };
};
