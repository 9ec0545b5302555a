import type { Endpoint } from "./pace.js";

/** How an attempt ended: with a status, or with a failure. */
export type AttemptOutcome = { readonly status: number } | { readonly error: unknown };

/** What is used of a span of `@opentelemetry/api`. */
interface Span {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(at?: number): void;
}

/** What is used of a tracer of `@opentelemetry/api`. */
interface SpanTracer {
  startSpan(
    name: string,
    options: {
      readonly kind: number;
      readonly attributes: Readonly<Record<string, string | number>>;
      readonly startTime?: number;
    },
    context: unknown,
  ): Span;
}

/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR` of the API. */
const client = 2;
const failed = 2;

const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return "_OTHER";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};

/** Ends a span for work that failed. Records the kind of failure, never its message. */
export const endFailed = (span: Span, error: unknown, at?: number): void => {
  span.setAttribute("error.type", typeof error === "number" ? `${error}` : errorType(error));
  span.setStatus({ code: failed });
  span.end(at);
};

/** One attempt of a call, and where its span belongs. */
interface TracedAttempt extends Endpoint {
  /** Number of the attempt of this call, from 1. */
  readonly attempt: number;
  /** Host name of the address, without anything else of it. */
  readonly host: string;
  /** The context of the span above. */
  readonly parent: unknown;
}

/**
 * Starts a span for one attempt, following the semantic conventions for HTTP clients. Records the
 * path template, but no headers, body, or ID.
 *
 * @param now milliseconds since 1970. Default: the tracer's time
 * @returns the function that ends the span
 */
export const beginCallSpan = (
  tracer: SpanTracer,
  { method, template, attempt, host, parent }: TracedAttempt,
  now?: () => number,
): ((outcome: AttemptOutcome) => void) => {
  const attributes = {
    "http.request.method": method,
    "url.template": template,
    "server.address": host,
    ...(attempt > 1 ? { "http.request.resend_count": attempt - 1 } : {}),
  };
  const options = { kind: client, attributes, ...(now ? { startTime: now() } : {}) };
  const span = tracer.startSpan(`${method} ${template}`, options, parent);
  return (outcome) => {
    const isAnswered = "status" in outcome;
    if (isAnswered) span.setAttribute("http.response.status_code", outcome.status);
    if (isAnswered && outcome.status < 400) span.end(now?.());
    else endFailed(span, isAnswered ? outcome.status : outcome.error, now?.());
  };
};
