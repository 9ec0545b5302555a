import { controlThrough } from "./control-client.js";
import type { EmulatorControl } from "./emulator-control.js";

/** How an emulator of another process is reached. */
export interface ControlOptions {
  /** The `controlSecret` of the emulator, where it asks for one. */
  readonly secret?: string;
}

/**
 * Controls an emulator that runs elsewhere. Nothing is sent before the first call, so this itself
 * does not fail.
 *
 * @param controlUrl as the first line of `emulator --json` gives it
 * @example
 * import { connectControl } from "pulumi-conversation/emulator";
 *
 * const control = connectControl("http://127.0.0.1:4010/control");
 * await control.faults({ on: "POST /channels", kind: "drop-after-commit" });
 */
export const connectControl = (
  controlUrl: string,
  { secret }: ControlOptions = {},
): EmulatorControl =>
  controlThrough((path, init) => {
    const headers = new Headers(init.headers);
    if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`);
    return fetch(controlUrl.replace(/\/$/, "") + path, { ...init, headers });
  });
