import { AsyncLocalStorage } from "node:async_hooks";
import { methodOf, propertyOf, sdkModule, wrapMethod } from "./sdk-module.js";

const urnOf = Symbol("urn");

/** The requests that carry a resource's values, and where. */
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

let isRemembering = false;

/**
 * Makes the SDK's provider process keep the URN with the values it hands to a provider, which it
 * would leave out. Not for the first call of a process, which is already read. Once for a process.
 */
export const rememberUrns = (): void => {
  if (isRemembering) return;
  isRemembering = true;
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

/** Runs a call with the URN known that was kept with its values, where there is one. */
export const withUrn = <T>(values: object, call: () => Promise<T>): Promise<T> => {
  const urn: unknown = Reflect.get(values, urnOf);
  return runningUrn.run(typeof urn === "string" ? urn : undefined, call);
};

/** The URN of the resource that the running call is about. */
export const currentUrn: () => string | undefined = runningUrn.getStore.bind(runningUrn);
