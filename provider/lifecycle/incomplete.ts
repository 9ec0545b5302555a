import type { JsonObject } from "../kernel/json.js";

/**
 * An object exists but is not as wanted yet. The engine saves it with its id, says why, and calls
 * `update` in the next run even where nothing else changed.
 */
export class Incomplete extends Error {
  override readonly name = "Incomplete";

  constructor(
    readonly objectId: string,
    readonly outputs: JsonObject,
    cause: Error,
  ) {
    super(cause.message, { cause });
  }
}
