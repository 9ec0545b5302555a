import { propertyOf, sdkModule, wrapMethod } from "./sdk-module.js";

/**
 * Aborted when the engine cancels the run (Ctrl-C), so that waiting ends at once. The SDK answers
 * the engine's Cancel call itself and tells nobody; but its request is the only empty message of
 * this process, so reading one is the sign. Never aborted where that cannot be seen.
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
