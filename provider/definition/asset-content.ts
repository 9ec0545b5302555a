import { readFile } from "node:fs/promises";
import type { Field } from "./define.js";

/** Whether a program may give a file of its machine instead of the text. */
export const takesFile = (field: Field): boolean =>
  field.type === "text" && field.format === "base64";

/**
 * The content of an asset in base64, or why it cannot be used.
 *
 * @param file path of the file; undefined for an asset of another sort
 * @param property for the message, such as `Channel "web": icon`
 */
export const assetContent = async (
  file: string | undefined,
  property: string,
): Promise<{ readonly base64: string } | { readonly fault: string }> => {
  if (file === undefined)
    return {
      fault: `${property}: takes base64 text, or a file of this machine as new pulumi.asset.FileAsset(path); another asset was given`,
    };
  try {
    return { base64: (await readFile(file)).toString("base64") };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `${property}: the file ${file} cannot be read: ${reason}` };
  }
};
