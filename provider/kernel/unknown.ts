import { isObject } from "./json.js";

/**
 * How the engine writes a value that is not known before the update, whatever its type and at any
 * depth. Public as `pulumi.runtime.unknownValue`; repeated here so that the provider does not load
 * the SDK for one constant.
 */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Whether a value is unknown, or holds an unknown anywhere inside. */
export const holdsUnknown = (value: unknown): boolean =>
  typeof value === "string"
    ? value.includes(unknownValue)
    : Array.isArray(value)
      ? value.some(holdsUnknown)
      : isObject(value) && Object.values(value).some(holdsUnknown);
