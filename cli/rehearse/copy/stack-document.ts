import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { printedJson } from "../../../provider/stacks/pulumi-queries.js";

/** What `pulumi stack export --show-secrets` prints. */
export interface StackDocument {
  readonly version: number;
  readonly deployment: JsonObject;
}

/** Reads a state that was exported; undefined where the text is none. */
export const stackDocumentIn = (text: string): StackDocument | undefined => {
  const document = printedJson(text);
  if (!isObject(document) || !isObject(document.deployment)) return undefined;
  return { version: Number(document.version ?? 3), deployment: document.deployment };
};

/** The resources of a state. */
export const resourcesIn = ({ deployment }: StackDocument): readonly JsonObject[] =>
  Array.isArray(deployment.resources) ? deployment.resources.filter(isObject) : [];
