import type { Clock } from "../../../provider/kernel/clock.js";
import type { Endpoint } from "../../../provider/service/http/operations.js";
import type { Transport } from "../../../provider/service/http/transport.js";
import type { ContentTransfer } from "../assets/content-transfer.js";
import { type CallHooks, harmlessHook } from "./call-events.js";
import { type BeginSpan, type Outcome, telemetry } from "./telemetry.js";

/** Sends one attempt of a call, and tells those who watch. */
type Watched = <T extends { readonly status: number }>(
  url: URL,
  send: () => Promise<T>,
) => Promise<T>;

/** Begins to watch one call of an endpoint: each use of what it gives back is one more attempt. */
export type CallWatch = (endpoint: Endpoint) => Promise<Watched>;

/** Tracing must not fail a call. */
const spanOf = (begin: BeginSpan | undefined, ...about: Parameters<BeginSpan>) => {
  try {
    const end = begin?.(...about);
    return (outcome: Outcome): void => {
      try {
        end?.(outcome);
      } catch {
        // Tracing is broken, not the call.
      }
    };
  } catch {
    return () => {};
  }
};

/** Watches calls for the hooks of the caller, and for OpenTelemetry. */
export const callWatch = (hooks: CallHooks, clock: Clock, tracing = telemetry()): CallWatch => {
  const onRequest = harmlessHook("onRequest", hooks.onRequest);
  const onResponse = harmlessHook("onResponse", hooks.onResponse);
  return async ({ method, template }) => {
    const begin = await tracing();
    let attempts = 0;
    return async (url, send) => {
      attempts += 1;
      const attempt = { method, template, attempt: attempts };
      const endSpan = spanOf(begin, attempt, url.hostname);
      const from = clock.now();
      const end = (outcome: Outcome): void => {
        const status = "status" in outcome ? { status: outcome.status } : {};
        onResponse({ ...attempt, ...status, ms: clock.now() - from });
        endSpan(outcome);
      };
      onRequest(attempt);
      try {
        const answer = await send();
        end({ status: answer.status });
        return answer;
      } catch (error) {
        end({ error });
        throw error;
      }
    };
  };
};

/** A transport for one call of an endpoint. */
export const watchedTransport = (transport: Transport, watched: Watched): Transport => ({
  send: (request) => watched(new URL(request.url), () => transport.send(request)),
  close: () => transport.close(),
});

/** A transport for one endpoint whose calls are not told from each other: an accepted one ends a call. */
export const watchedEndpoint = (
  transport: Transport,
  watch: CallWatch,
  endpoint: Endpoint,
): Transport => {
  let current: Promise<Watched> | undefined;
  return {
    send: async (request) => {
      current ??= watch(endpoint);
      const watched = await current;
      const answer = await watched(new URL(request.url), () => transport.send(request));
      if (answer.status < 400) current = undefined;
      return answer;
    },
    close: () => transport.close(),
  };
};

const content = "{contentUrl}";

/** Transfers of contents, each of them one call. */
export const watchedTransfer = (transfer: ContentTransfer, watch: CallWatch): ContentTransfer => ({
  upload: async (upload) => {
    const watched = await watch({ method: "POST", template: content });
    return watched(upload.url, () => transfer.upload(upload));
  },
  download: async (download) => {
    const watched = await watch({ method: "GET", template: content });
    return watched(download.url, () => transfer.download(download));
  },
  close: () => transfer.close(),
});
