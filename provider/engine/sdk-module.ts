import { AsyncLocalStorage } from "node:async_hooks";
import { createRequire } from "node:module";

/**
 * A file of the Pulumi SDK that runs this process, by its path relative to the SDK's provider
 * script. Undefined outside such a process, or if the SDK has moved the file: everything that uses
 * it is best effort.
 */
export const sdkModule = (path: string): unknown => {
  try {
    return createRequire(process.argv[1] ?? "")(path);
  } catch {
    return undefined;
  }
};

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

const isMethod = (value: unknown): value is Method => typeof value === "function";

/** A member of a module that is itself an object or a class. */
export const propertyOf = (holder: unknown, name: string): unknown =>
  (typeof holder === "object" || typeof holder === "function") && holder !== null
    ? Reflect.get(holder, name)
    : undefined;

/** The member of a module or class, if it is a method. */
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
 * Aborts when the engine cancels the run (Ctrl-C), so that waits end immediately. The SDK answers
 * the engine's Cancel call itself and notifies nobody. Its request is the only empty message of
 * this process, so reading one is the signal. Never aborts if that cannot be observed.
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

const urnOf = Symbol("urn");

/** The requests that carry a resource's values, and their members. */
const requests = {
  CheckRequest: "getNews",
  DiffRequest: "getNews",
  CreateRequest: "getProperties",
  UpdateRequest: "getNews",
  DeleteRequest: "getProperties",
  ReadRequest: "getProperties",
} as const;

const remember = (values: unknown, urn: unknown): unknown => {
  if (typeof values === "object" && values !== null && typeof urn === "string") {
    Object.defineProperty(values, urnOf, { value: urn, enumerable: false });
  }
  return values;
};

let isWrapped = false;

/**
 * Makes the SDK's provider process keep the URN with the values that it passes to a provider. Has
 * no effect on the first call of a process, which is already read. Once per process.
 */
export const rememberUrns = (): void => {
  if (isWrapped) return;
  isWrapped = true;
  const messages = sdkModule("../../proto/provider_pb.js");
  for (const [type, getter] of Object.entries(requests)) {
    wrapMethod(
      propertyOf(propertyOf(messages, type), "prototype"),
      getter,
      (original) =>
        function () {
          const struct = original.call(this);
          const urn = methodOf(this, "getUrn")?.call(this);
          wrapMethod(
            struct,
            "toJavaScript",
            (convert) =>
              function () {
                return remember(convert.call(this), urn);
              },
          );
          return struct;
        },
    );
  }
};

/** The resource that the running call is about. */
const runningUrn = new AsyncLocalStorage<string | undefined>();

/** Runs a call with the URN that was kept with its values, if there is one. */
export const withUrn = <T>(values: object, call: () => Promise<T>): Promise<T> => {
  const urn: unknown = Reflect.get(values, urnOf);
  return runningUrn.run(typeof urn === "string" ? urn : undefined, call);
};

/** The URN of the resource that the current call is about. */
export const currentUrn: () => string | undefined = runningUrn.getStore.bind(runningUrn);
