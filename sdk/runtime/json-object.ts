import { z } from "zod";
import type { JsonObject } from "../../provider/definition/json.js";

export type { JsonObject } from "../../provider/definition/json.js";

const members = z.record(z.string(), z.json());

/** Any JSON object: for what no document shows. */
export const jsonObject = z.custom<JsonObject>((value) => members.safeParse(value).success, {
  message: "must be a JSON object",
});
