import { readFile } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";
import type { Definition } from "../provider/definition/define.js";

/** Every asset counts as a file for Pulumi's own question. */
const isFile = (value: unknown): value is pulumi.asset.FileAsset =>
  pulumi.asset.Asset.isInstance(value);

/** @throws pulumi.RunError naming the property and the file, where it cannot be read */
const contentOf = async (asset: pulumi.asset.FileAsset, property: string): Promise<string> => {
  if (!("path" in asset))
    throw new pulumi.RunError(
      `${property}: takes base64 text, or a file of this machine as new pulumi.asset.FileAsset(path); another asset was given`,
    );
  const file = await asset.path;
  try {
    return (await readFile(file)).toString("base64");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new pulumi.RunError(`${property}: the file ${file} cannot be read: ${reason}`);
  }
};

/** The arguments of a resource with the content of files in place of the files: what is text in base64 may be one. */
export const withFileContent = (
  { kind, fields }: Definition,
  name: string,
  args: pulumi.Inputs,
): pulumi.Inputs => {
  const files = Object.entries(fields).flatMap(([key, field]) => {
    const value: unknown = args[key];
    const isContent = field.type === "text" && field.format === "base64";
    const property = `${kind} ${JSON.stringify(name)}: ${key}`;
    return isContent && isFile(value) ? [[key, contentOf(value, property)] as const] : [];
  });
  return files.length === 0 ? args : { ...args, ...Object.fromEntries(files) };
};
