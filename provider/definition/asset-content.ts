import { readFile } from "node:fs/promises";
import type { Field } from "./define.js";

/** Whether a program can pass a local file instead of text for a field. */
export const takesFile = (field: Field): boolean =>
  field.type === "text" && field.format === "base64";

/**
 * Returns the content of an asset in base64, or the reason why the asset cannot be used.
 *
 * @param file path of the file; undefined for another type of asset
 * @param property for the message, such as `Channel "web": icon`
 */
export const assetContent = async (
  file: string | undefined,
  property: string,
): Promise<{ readonly base64: string } | { readonly fault: string }> => {
  if (file === undefined)
    return {
      fault: `${property}: must be base64 text or a local file (new pulumi.asset.FileAsset(path)); got another type of asset`,
    };
  try {
    return { base64: (await readFile(file)).toString("base64") };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `${property}: could not read the file ${file}: ${reason}` };
  }
};
