import { packageName, packageVersion } from "../../../provider/kernel/package-version.js";
import type { Method } from "../../../provider/service/http/operations.js";

/** One attempt of a call, just before it is sent. Holds no body, header, id or secret. */
export interface RequestEvent {
  /** HTTP method. */
  readonly method: Method;
  /**
   * Path template below the base address, such as `/conversations/{id}`; `TOKEN` for the token
   * address, `{contentUrl}` for a signed address.
   */
  readonly template: string;
  /** Number of the attempt of this call, from 1. */
  readonly attempt: number;
}

/** How an attempt ended: with a status, or with a failure. */
export type Outcome = { readonly status: number } | { readonly error: unknown };

/** Begins a span; the function it gives back ends it. */
export type BeginSpan = (attempt: RequestEvent, host: string) => (outcome: Outcome) => void;

/** What is used of a span of `@opentelemetry/api`. */
interface Span {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

/** What is used of the optional package `@opentelemetry/api`, version 1. */
export interface TelemetryApi {
  readonly context: { active(): unknown };
  readonly trace: {
    getTracer(
      name: string,
      version: string,
    ): {
      startSpan(
        name: string,
        options: {
          readonly kind: number;
          readonly attributes: Readonly<Record<string, string | number>>;
        },
        context: unknown,
      ): Span;
    };
  };
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of the API. */
const client = 2;
const failed = 2;

/** A name that the compiler does not look up: the package need not be there. */
const telemetryPackage: string = "@opentelemetry/api";

const isApi = (value: unknown): value is TelemetryApi =>
  typeof value === "object" && value !== null && "trace" in value && "context" in value;

type Load = () => Promise<unknown>;

const errorType = (outcome: Outcome): string => {
  if ("status" in outcome) return `${outcome.status}`;
  const { error } = outcome;
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};

const ended = (span: Span, outcome: Outcome): void => {
  if ("status" in outcome) span.setAttribute("http.response.status_code", outcome.status);
  if (!("status" in outcome) || outcome.status >= 400) {
    span.setAttribute("error.type", errorType(outcome));
    span.setStatus({ code: failed });
  }
  span.end();
};

/** Spans by the semantic conventions for HTTP clients, as children of whatever is active now. */
const beginning = ({ context, trace }: TelemetryApi): BeginSpan => {
  const parent = context.active();
  const tracer = trace.getTracer(packageName, packageVersion());
  return ({ method, template, attempt }, host) => {
    const attributes = {
      "http.request.method": method,
      "url.template": template,
      "server.address": host,
      ...(attempt > 1 ? { "http.request.resend_count": attempt - 1 } : {}),
    };
    const name = `${method} ${template}`;
    const span = tracer.startSpan(name, { kind: client, attributes }, parent);
    return (outcome) => ended(span, outcome);
  };
};

/**
 * Traces through `@opentelemetry/api`, where that is installed; it is looked for on the first call.
 * What is given back is asked once for each call, by whoever makes it.
 */
export const telemetry = (
  load: Load = () => import(telemetryPackage),
): (() => Promise<BeginSpan | undefined>) => {
  let api: Promise<unknown> | undefined;
  return async () => {
    api ??= load();
    try {
      const found = await api;
      return isApi(found) ? beginning(found) : undefined;
    } catch {
      // Not there, or of another shape than version 1 has: calls go on without traces.
      return undefined;
    }
  };
};
