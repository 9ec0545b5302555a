import { request } from "node:https";
import { controlThrough } from "./control-client.js";
import type { EmulatorControl } from "./emulator-control.js";

/** How an emulator of another process is reached. */
export interface ControlOptions {
  /** The `controlSecret` of the emulator, where it asks for one. */
  readonly secret?: string;
  /** The `certificate` of an emulator with TLS, which the process does not trust otherwise. */
  readonly certificate?: string;
}

/** By node:https, which takes a certificate for one call; fetch would need one for the process. */
const fetchTrusting = (ca: string, url: string, init: RequestInit): Promise<Response> =>
  new Promise((resolve, reject) => {
    const { method = "GET", body } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    const outgoing = request(url, { method, headers, ca }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const { statusCode: status = 500 } = answer;
        resolve(new Response(status === 204 ? null : Buffer.concat(chunks), { status }));
      });
    });
    outgoing.on("error", reject);
    outgoing.end(typeof body === "string" ? body : undefined);
  });

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
  { secret, certificate }: ControlOptions = {},
): EmulatorControl =>
  controlThrough(async (path, init) => {
    const headers = new Headers(init.headers);
    if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`);
    const url = controlUrl.replace(/\/$/, "") + path;
    return certificate === undefined
      ? fetch(url, { ...init, headers })
      : fetchTrusting(certificate, url, { ...init, headers });
  });
