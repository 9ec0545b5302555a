import { AsyncLocalStorage } from "node:async_hooks";
import type * as Api from "@opentelemetry/api";
import type * as Core from "@opentelemetry/core";
import type * as Exporter from "@opentelemetry/exporter-trace-otlp-grpc";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import { type Clock, systemClock } from "../kernel/clock.js";
import { packageName, packageVersion } from "../kernel/package.js";
import type { RunEnvironment } from "../lifecycle/run.js";
import { type AttemptOutcome, beginCallSpan, endFailed } from "../service/call-events.js";
import { connectService } from "../service/connect.js";
import { type Endpoint, endpointName } from "../service/operations.js";
import type { Pace } from "../service/pace.js";
import { tokenEndpoint } from "../service/token.js";
import { httpTransport, type Transport } from "../service/transport.js";
import { loadWithSdk } from "./sdk-module.js";

/** What a run needs to show its waits and calls in the engine's trace. */
export interface RunTraces {
  /** Runs an engine call, or part of one, in a span that contains its waits and service calls. */
  readonly step: NonNullable<RunEnvironment["step"]>;
  /** Connects like `connectService`, and creates spans for waits, token requests, and calls. */
  readonly connect: typeof connectService;
}

interface TracesOptions {
  /** The W3C trace context of the running call; absent if the engine's is not passed on. */
  readonly traceparent?: () => string | undefined;
  /** The resource that the running call is about. */
  readonly urn: () => string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Pick<Clock, "now" | "wall">;
}

/** Shorter waits are within the accuracy of the clocks, in milliseconds. */
const leastMs = 1;

/** The engine's own collector is on this machine; a run does not wait longer for it, in milliseconds. */
const exportTimeoutMs = 2_000;

/**
 * Spans for the engine's collector, as the SDK's own processes send them. Not registered for the
 * process: what other providers in it trace is none of ours.
 */
const spansFor = (collector: string): Sdk.BasicTracerProvider => {
  const sdk: typeof Sdk = loadWithSdk("@opentelemetry/sdk-trace-base");
  const otlp: typeof Exporter = loadWithSdk("@opentelemetry/exporter-trace-otlp-grpc");
  const resources: typeof Resources = loadWithSdk("@opentelemetry/resources");
  const url = `http://${collector}`;
  const options = { url, timeoutMillis: exportTimeoutMs };
  // Never by way of a proxy that the environment names for the service.
  const { no_grpc_proxy: given, no_proxy: others } = process.env;
  process.env.no_grpc_proxy = [given || others, new URL(url).hostname].filter(Boolean).join(",");
  return new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({
      "service.name": packageName,
      "service.version": packageVersion(),
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(new otlp.OTLPTraceExporter(options))],
  });
};

/** The attempts of a call within a step. */
interface Attempts {
  made: number;
  /** When the last one ended without a usable answer, in milliseconds since 1970. */
  failedAt?: number | undefined;
}

/** A call from the engine, or a part of one. Without anything to show in it, it has no span. */
interface Step {
  readonly name: string;
  readonly from: number;
  /** The context that its span belongs to. */
  readonly above: () => Api.Context;
  readonly attributes: Api.Attributes;
  readonly attempts: Map<string, Attempts>;
  span?: Api.Span;
}

/** An attempt in progress, from the end of its wait. */
interface Attempt {
  readonly endpoint: Endpoint;
  readonly step: Step;
  readonly number: number;
  readonly from: number;
  /** Fetching the token, if this attempt does it. */
  token?: Step;
}

/** Whether a call with such an answer may be sent again. */
const isRepeatable = (status: number): boolean => status === 401 || status >= 500;

/**
 * Returns the functions that create a run's spans, nested under the engine's spans. The pace
 * reports waits, and the transport reports calls. Everything else follows from the gaps between
 * them, so no further reports are needed.
 *
 * @throws Error if OpenTelemetry is not installed, or has an unexpected form
 */
export const runTraces = ({
  traceparent,
  urn,
  environment = process.env,
  clock = systemClock,
}: TracesOptions): RunTraces => {
  const { trace, ROOT_CONTEXT }: typeof Api = loadWithSdk("@opentelemetry/api");
  const { W3CTraceContextPropagator }: typeof Core = loadWithSdk("@opentelemetry/core");
  const propagator = new W3CTraceContextPropagator();
  const { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: collector, TRACEPARENT: outer } = environment;
  const provider = collector ? spansFor(collector) : undefined;
  const tracer = (provider ?? trace).getTracer(packageName, packageVersion());
  const steps = new AsyncLocalStorage<Step>();
  const attempts = new AsyncLocalStorage<Attempt>();
  const startedAt = clock.wall() - clock.now();
  const now = (): number => startedAt + clock.now();
  let running = 0;
  let isUnsent = false;
  let isReached = true;

  const engineContext = (): Api.Context => {
    const carrier = { traceparent: traceparent?.() ?? outer };
    const getter = { get: () => carrier.traceparent, keys: () => Object.keys(carrier) };
    return propagator.extract(ROOT_CONTEXT, carrier, getter);
  };

  const newStep = (name: string, above: () => Api.Context, more: Partial<Step> = {}): Step => ({
    ...{ name, above, from: now(), attributes: {}, attempts: new Map(), ...more },
  });

  const begun = (step: Step): Api.Span => {
    const { name, attributes, from, above } = step;
    step.span ??= tracer.startSpan(name, { attributes, startTime: from }, above());
    return step.span;
  };

  const inside = (step: Step): Api.Context => trace.setSpan(step.above(), begun(step));

  /** A span that is over, if it took any time. */
  const passed = (name: string, from: number, within: Step, endpoint?: Endpoint): void => {
    const until = now();
    if (until - from < leastMs) return;
    const attributes = endpoint && {
      "http.request.method": endpoint.method,
      "url.template": endpoint.template,
    };
    const options = { startTime: from, ...(attributes ? { attributes } : {}) };
    tracer.startSpan(name, options, inside(within)).end(until);
  };

  const ended = (step: Step, failure?: { readonly error: unknown }): void => {
    const { span } = step;
    if (failure) endFailed(begun(step), failure.error, now());
    else span?.end(now());
  };

  const work = async <T>(step: Step, doing: () => Promise<T>): Promise<T> => {
    try {
      const result = await steps.run(step, doing);
      ended(step);
      return result;
    } catch (error) {
      ended(step, { error });
      throw error;
    }
  };

  /**
   * The engine ends the process after its last answer: what is to be seen was sent before. A
   * collector that has not answered once holds up no further answer.
   */
  const outermost = async <T>(name: string, doing: () => Promise<T>): Promise<T> => {
    const above = engineContext();
    const about = urn();
    const step = newStep(name, () => above, {
      attributes: about === undefined ? {} : { "pulumi.urn": about },
    });
    running += 1;
    try {
      return await work(step, doing);
    } finally {
      running -= 1;
      isUnsent ||= step.span !== undefined;
      if (running === 0 && isUnsent && isReached) {
        isUnsent = false;
        await provider?.forceFlush().catch(() => {
          isReached = false;
        });
      }
    }
  };

  const step: RunTraces["step"] = (name, doing) => {
    const current = steps.getStore();
    if (!current) return outermost(name, doing);
    const part = newStep(name, () => inside(current));
    return work(part, async () => {
      const result = await doing();
      // It may have waited for what another call has begun, without a call of its own.
      if (now() - part.from >= leastMs) begun(part);
      return result;
    });
  };

  const paced =
    (pace: Pace): Pace =>
    async (endpoint, attempt, signal) => {
      const signingIn =
        endpoint.template === tokenEndpoint.template ? attempts.getStore() : undefined;
      if (signingIn)
        signingIn.token ??= newStep("access token", () => inside(signingIn.step), {
          from: signingIn.from,
        });
      const within = signingIn?.token ?? steps.getStore();
      if (!within) return pace(endpoint, attempt, signal);
      const name = endpointName(endpoint);
      const made = within.attempts.get(name) ?? { made: 0 };
      within.attempts.set(name, made);
      if (made.failedAt !== undefined)
        passed(`pause before ${name}`, made.failedAt, within, endpoint);
      let since: number | undefined = now();
      const waited = (): void => {
        if (since !== undefined) passed(`wait for ${name}`, since, within, endpoint);
        since = undefined;
      };
      const sent: typeof attempt = async () => {
        waited();
        made.made += 1;
        made.failedAt = undefined;
        const current: Attempt = { endpoint, step: within, number: made.made, from: now() };
        try {
          const response = await attempts.run(current, attempt);
          if (response.status === 429) since = now();
          else if (isRepeatable(response.status)) made.failedAt = now();
          else made.made = 0;
          return response;
        } catch (error) {
          made.failedAt = now();
          if (current.token) ended(current.token, { error });
          throw error;
        }
      };
      try {
        return await pace(endpoint, sent, signal);
      } finally {
        waited();
      }
    };

  /** Before a call is sent, its token is there: fetched by this attempt or by another one. */
  const signedIn = ({ endpoint, step: within, token, from }: Attempt): void => {
    if (token) ended(token);
    else if (endpoint.template !== tokenEndpoint.template) passed("access token", from, within);
  };

  const observed = (transport: Transport): Transport => ({
    send: async (request) => {
      const current = attempts.getStore();
      if (!current) return transport.send(request);
      signedIn(current);
      const { endpoint, number, step: within } = current;
      const { method, template } = endpoint;
      const host = new URL(request.url).hostname;
      const call = { method, template, attempt: number, host, parent: inside(within) };
      const end: (outcome: AttemptOutcome) => void = beginCallSpan(tracer, call, now);
      try {
        const response = await transport.send(request);
        end({ status: response.status });
        return response;
      } catch (error) {
        end({ error });
        throw error;
      }
    },
    close: () => transport.close(),
  });

  const connect: typeof connectService = (settings, options) => {
    const { pace, transport = httpTransport() } = options;
    const service = connectService(settings, {
      ...options,
      pace: paced(pace),
      transport: observed(transport),
    });
    return {
      ...service,
      list: (definition, how) =>
        step(`listing ${definition.collection}`, () => service.list(definition, how)),
      find: (definition, id) =>
        step(`listing ${definition.collection}`, () => service.find(definition, id)),
    };
  };

  return { step, connect };
};
