import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";
import { isObject } from "../kernel/json.js";

/**
 * Loads a module as the provider script of the Pulumi SDK would, by name or relative path. Returns
 * undefined if no SDK runs this process or the SDK no longer has the module, so callers must be
 * able to work without it.
 */
export const sdkModule = (path: string): unknown => {
  try {
    return createRequire(process.argv[1] ?? "")(path);
  } catch {
    return undefined;
  }
};

/**
 * Loads a module from the location of the project's Pulumi SDK, because without hoisting, the SDK's
 * libraries are accessible only from there.
 *
 * @throws Error if the SDK has no such module
 */
export const loadWithSdk = (path: string) =>
  createRequire(createRequire(__filename).resolve("@pulumi/pulumi/package.json"))(path);

/** Whether the engine records a trace or this process is to join an existing one. */
export const isTraced = ({ env } = process): boolean =>
  Boolean(env.PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT || env.TRACEPARENT);

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

type Constructor = new (...args: readonly unknown[]) => unknown;

export const isConstructor = (value: unknown): value is Constructor => typeof value === "function";

const isMethod = (value: unknown): value is Method => typeof value === "function";

/** Returns a member of an object or a class; undefined for other values. */
export const propertyOf = (holder: unknown, name: string): unknown =>
  (typeof holder === "object" || typeof holder === "function") && holder !== null
    ? Reflect.get(holder, name)
    : undefined;

/** Returns a method of an object or a class; undefined if the member is not a method. */
export const methodOf = (holder: unknown, name: string): Method | undefined => {
  const member = propertyOf(holder, name);
  return isMethod(member) ? member : undefined;
};

/** Replaces a method by a wrapper around it; does nothing if there is none. */
const wrapMethod = (holder: unknown, name: string, wrap: (original: Method) => Method): void => {
  const original = methodOf(holder, name);
  if (original) Reflect.set(Object(holder), name, wrap(original));
};

/**
 * Returns a signal that aborts when the engine cancels the run (Ctrl-C), so that waits end
 * immediately. The SDK answers the engine's Cancel call itself without notifying its providers.
 * That call's request is the only empty message that this process reads, so reading an empty
 * message triggers the signal. The signal never aborts if messages cannot be observed.
 */
export const cancelSignal = (): AbortSignal => {
  const controller = new AbortController();
  const empty = propertyOf(sdkModule("google-protobuf/google/protobuf/empty_pb.js"), "Empty");
  wrapMethod(
    empty,
    "deserializeBinary",
    (original) =>
      function (...args) {
        controller.abort();
        return original.call(this, ...args);
      },
  );
  return controller.signal;
};

/** What is known about a call from the engine besides its values. */
interface CallOrigin {
  readonly urn?: string;
  readonly traceparent?: string;
}

const originOf = Symbol("origin");

/** The trace context of each request. */
const traceparents = new WeakMap<object, string>();

/** What gRPC's server makes of a call before it calls a method: the second one in releases since 1.13. */
const serverCalls = ["ServerUnaryCallImpl", "ServerWritableStreamImpl"];

/** Keeps the trace context that the engine sends beside a request, and the SDK drops. */
const rememberTraceparents = (): void => {
  const calls = sdkModule("@grpc/grpc-js/build/src/server-call.js");
  for (const name of serverCalls) {
    const original = propertyOf(calls, name);
    if (!isConstructor(original)) continue;
    const construct: ProxyHandler<Constructor>["construct"] = (target, args, made) => {
      const [, , metadata, request] = args;
      const found = methodOf(metadata, "get")?.call(metadata, "traceparent");
      const [traceparent]: readonly unknown[] = Array.isArray(found) ? found : [];
      if (typeof traceparent === "string" && isObject(request))
        traceparents.set(request, traceparent);
      return Reflect.construct(target, args, made);
    };
    Reflect.set(Object(calls), name, new Proxy(original, { construct }));
  }
};

/** The requests that carry a resource's values, and their members. */
const requests = {
  CheckRequest: "getNews",
  DiffRequest: "getNews",
  CreateRequest: "getProperties",
  UpdateRequest: "getNews",
  DeleteRequest: "getProperties",
  ReadRequest: "getProperties",
} as const;

const remember = (values: unknown, origin: CallOrigin): unknown => {
  if (isObject(values))
    Object.defineProperty(values, originOf, { value: origin, enumerable: false });
  return values;
};

let isWrapped = false;

/**
 * Makes the SDK's provider process keep the URN and trace context with the values that it passes to
 * a provider. Does not affect the first engine call to a process, which has already been read.
 * Takes effect only once per process.
 */
export const rememberUrns = (): void => {
  if (isWrapped) return;
  isWrapped = true;
  if (isTraced()) rememberTraceparents();
  const messages = sdkModule("../../proto/provider_pb.js");
  for (const [type, getter] of Object.entries(requests)) {
    wrapMethod(
      propertyOf(propertyOf(messages, type), "prototype"),
      getter,
      (original) =>
        function () {
          const struct = original.call(this);
          const urn = methodOf(this, "getUrn")?.call(this);
          const traceparent = isObject(this) ? traceparents.get(this) : undefined;
          const origin: CallOrigin = {
            ...(typeof urn === "string" ? { urn } : {}),
            ...(traceparent === undefined ? {} : { traceparent }),
          };
          wrapMethod(
            struct,
            "toJavaScript",
            (convert) =>
              function () {
                return remember(convert.call(this), origin);
              },
          );
          return struct;
        },
    );
  }
};

/** The origin of the running call. */
const running = new AsyncLocalStorage<CallOrigin | undefined>();

/** Runs a call with the URN and trace context that were kept with its values. */
export const withUrn = <T>(values: object, call: () => Promise<T>): Promise<T> => {
  const origin: CallOrigin | undefined = Reflect.get(values, originOf);
  return running.run(origin, call);
};

/** Returns the URN of the resource that the current call is about, if known. */
export const currentUrn = (): string | undefined => running.getStore()?.urn;

/** Returns the W3C trace context of the current call, if the engine records a trace. */
export const currentTraceparent = (): string | undefined => running.getStore()?.traceparent;
