import { AsyncLocalStorage } from "node:async_hooks";
import type * as Api from "@opentelemetry/api";
import type * as Core from "@opentelemetry/core";
import type * as Exporter from "@opentelemetry/exporter-trace-otlp-grpc";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import { type Clock, systemClock } from "../kernel/clock.js";
import { packageName, packageVersion } from "../kernel/package.js";
import type { RunEnvironment } from "../lifecycle/run.js";
import { type AttemptOutcome, beginCallSpan, endFailed } from "../service/call-spans.js";
import { connectService } from "../service/connect.js";
import { type CallEvent, type Endpoint, endpointName, type ObservedCall } from "../service/pace.js";
import { tokenEndpoint } from "../service/token.js";
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

/** A call from the engine, or a part of one. Without anything to show in it, it has no span. */
interface Step {
  readonly name: string;
  readonly from: number;
  /** The context that its span belongs to. */
  readonly above: () => Api.Context;
  readonly attributes: Api.Attributes;
  span?: Api.Span;
}

/** A call to the service, and what of it is not in a span yet. Times are in milliseconds since 1970. */
interface TracedCall {
  readonly step: Step;
  /** When it began to wait for its turn. */
  waitingSince?: number | undefined;
  /** When its turn came. */
  turnAt: number;
  /** When the last attempt ended without a usable answer. */
  failedAt?: number | undefined;
  /** Fetching the token, if the present attempt does it. */
  token?: Step | undefined;
  endSpan?: (outcome: AttemptOutcome) => void;
}

/** Whether a call with such an answer may be sent again. */
const isRepeatable = (status: number): boolean => status === 401 || status >= 500;

/**
 * Returns the functions that create a run's spans, nested under the engine's spans. They listen to
 * the client's calls.
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
  const calls = new WeakMap<ObservedCall, TracedCall>();
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
    name,
    above,
    from: now(),
    attributes: {},
    ...more,
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

  /** The step that a call belongs to: for a token, that of fetching it for the call that needs it. */
  const findStep = ({ tokenFor }: ObservedCall): Step | undefined => {
    const signing = tokenFor && calls.get(tokenFor);
    if (!signing) return steps.getStore();
    signing.token ??= newStep("access token", () => inside(signing.step), { from: signing.turnAt });
    return signing.token;
  };

  const endWait = (call: ObservedCall, traced: TracedCall): void => {
    const { step: within, waitingSince } = traced;
    if (waitingSince !== undefined)
      passed(`wait for ${endpointName(call)}`, waitingSince, within, call);
    traced.waitingSince = undefined;
  };

  /** Before a call is sent, its token is there: fetched by this attempt or by another one. */
  const endSignIn = (call: ObservedCall, traced: TracedCall): void => {
    const { step: within, token, turnAt } = traced;
    if (token) ended(token);
    else if (call.template !== tokenEndpoint.template) passed("access token", turnAt, within);
    traced.token = undefined;
  };

  const beginWait = (call: ObservedCall): void => {
    const within = calls.get(call)?.step ?? findStep(call);
    if (!within) return;
    const traced: TracedCall = calls.get(call) ?? { step: within, turnAt: now() };
    calls.set(call, traced);
    if (traced.failedAt !== undefined)
      passed(`pause before ${endpointName(call)}`, traced.failedAt, within, call);
    traced.waitingSince = now();
  };

  const onEvent = (event: CallEvent): void => {
    const { call, type } = event;
    if (type === "waiting") beginWait(call);
    const traced = calls.get(call);
    if (!traced) return;
    if (type === "turn") {
      endWait(call, traced);
      Object.assign(traced, { turnAt: now(), failedAt: undefined });
    } else if (type === "sending") {
      endSignIn(call, traced);
      const { attempt, host } = event;
      const { method, template } = call;
      const attempted = { method, template, attempt, host, parent: inside(traced.step) };
      traced.endSpan = beginCallSpan(tracer, attempted, now);
    } else if (type === "answered") {
      const { status } = event.response;
      traced.endSpan?.({ status });
      if (status === 429) traced.waitingSince = now();
      else if (isRepeatable(status)) traced.failedAt = now();
    } else if (type === "failed") {
      traced.endSpan?.({ error: event.error });
    } else if (type === "over") {
      endWait(call, traced);
      if (event.error !== undefined) traced.failedAt = now();
      if (traced.token) ended(traced.token, { error: event.error });
      traced.token = undefined;
    }
  };

  const connect: typeof connectService = (settings, options) => {
    const listen = (event: CallEvent): void => {
      onEvent(event);
      options.onEvent?.(event);
    };
    const service = connectService(settings, { ...options, onEvent: listen });
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
