import type { Definition } from "../../../provider/definition/define.js";
import { mergeFields } from "../../../provider/definition/merge.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { frozen } from "./wire-values.js";

/** A merge whose sides cannot be changed by it. */
export const merge = (
  { fields, rule }: Definition,
  live: JsonObject,
  desired: JsonObject,
  prior: JsonObject = {},
  keeps = false,
) => mergeFields({ fields, rule, ...frozen({ live, desired, prior }), keeps });

/** A role of a client application, complete. */
export const role = (name: string, more: JsonObject = {}) => ({
  name,
  version: "v3",
  callback: `https://${name}.example.com`,
  notificationEmail: "a@b.example",
  ...more,
});

/** Entries of a map as they travel. */
export const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));
