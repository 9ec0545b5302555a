import type { IncomingMessage } from "node:http";
import { isObject, type JsonObject } from "../provider/definition/json.js";
import { Refusal } from "./refusal.js";

const mostBytes = 2 * 1024 * 1024;
const mostDepth = 64;

/** The body as text. @throws Refusal for more than 2 MiB */
export const readText = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else
        reject(
          new Refusal(400, "400-10424", "The body is larger than 2 MiB.", [], {
            connection: "close",
          }),
        );
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", reject);
    request.on("close", () => reject(new Error("The caller went away.")));
  });

const isDeep = (value: unknown, depth: number): boolean =>
  depth > mostDepth ||
  (typeof value === "object" &&
    value !== null &&
    Object.values(value).some((member) => isDeep(member, depth + 1)));

const malformed = (what: string): Refusal => new Refusal(400, "400-100", `The body ${what}.`);

/** @throws Refusal where the body is not a JSON object, or is not said to be JSON */
export const parseBody = (text: string, contentType: string | undefined): JsonObject => {
  if (!/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? ""))
    throw malformed("must have the content type application/json");
  if (text.trim() === "") throw malformed("is missing");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("is not JSON");
  }
  if (!isObject(value)) throw malformed("must be a JSON object");
  if (isDeep(value, 0)) throw malformed("is nested too deeply");
  return value;
};
