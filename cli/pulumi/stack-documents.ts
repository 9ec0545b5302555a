import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { valuesIn } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import {
  isDefaultProvider,
  isSecretValue,
  kindOfToken,
  providerToken,
  secretSignature,
  urnParts,
} from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import { providerAccount } from "../../provider/service/settings.js";
import { printedJson } from "./pulumi-queries.js";

const names = z.array(z.string()).nullish();
const values = z.record(z.string(), z.unknown());

const resourceSchema = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  custom: z.boolean().optional(),
  inputs: values.optional(),
  outputs: values.optional(),
  parent: z.string().optional(),
  provider: z.string().optional(),
  dependencies: names,
  propertyDependencies: z.record(z.string(), names).nullish(),
  deletedWith: z.string().optional(),
  retainOnDelete: z.boolean().optional(),
  ignoreChanges: names,
  external: z.boolean().optional(),
  delete: z.boolean().optional(),
});

const operationSchema = z.looseObject({ type: z.string(), resource: resourceSchema });

const stateSchema = z.looseObject({
  version: z.number(),
  deployment: z.looseObject({
    resources: z.array(resourceSchema).nullish(),
    pending_operations: z.array(operationSchema).nullish(),
  }),
});

const stepSchema = z.object({
  op: z.string(),
  urn: z.string(),
  oldState: resourceSchema.nullish(),
  newState: resourceSchema.nullish(),
  diffReasons: names,
});

const previewSchema = z.object({
  steps: z
    .array(stepSchema)
    .nullish()
    .transform((steps) => steps ?? []),
  /** Nanoseconds. */
  duration: z.number().nullish(),
  changeSummary: z.record(z.string(), z.number()),
});

const diagnosticsSchema = z.object({
  diagnostics: z.array(
    z.object({ urn: z.string().optional(), message: z.string(), severity: z.string() }),
  ),
});

/** A resource as Pulumi writes it in a state or a preview. */
export type StateResource = z.infer<typeof resourceSchema>;

/** An operation that a run started and did not complete, such as `creating`. */
export type PendingOperation = z.infer<typeof operationSchema>;

/** The output of `pulumi stack export`; members not listed here stay unchanged. */
export type StackExport = z.infer<typeof stateSchema>;

export type PreviewStep = z.infer<typeof stepSchema>;

export type Preview = z.infer<typeof previewSchema>;

/** Reads the output of `pulumi stack export`; undefined if it is not a state. */
export const stackExportIn = (text: string): StackExport | undefined =>
  stateSchema.safeParse(printedJson(text)).data;

/** Reads the output of `pulumi preview --json`; undefined if it is not a preview. */
export const previewIn = (text: string): Preview | undefined =>
  previewSchema.safeParse(printedJson(text)).data;

/** Pulumi marks colors in messages: `<{%reset%}>`. */
export const withoutColour = (text: string): string =>
  stripVTControlCharacters(text.replace(/<\{%[\w ]*%\}>/g, "")).trim();

/** An error of a run; without a URN, it concerns the run as a whole. */
export interface EngineError {
  readonly urn?: string;
  readonly message: string;
}

export const previewErrorsIn = (printed: string): readonly EngineError[] => {
  const { diagnostics = [] } = diagnosticsSchema.safeParse(printedJson(printed)).data ?? {};
  return diagnostics.flatMap(({ urn, message, severity }) =>
    severity === "error"
      ? [{ ...(urn ? { urn } : {}), message: withoutColour(message).replace(/^error: /, "") }]
      : [],
  );
};

/** Returns the resources in a state, in order of creation; empty if there is no state. */
export const resourcesInState = (state: StackExport | undefined): readonly StateResource[] =>
  state?.deployment.resources ?? [];

/** The value of a secret in plain text, in the form of a state or of the lifecycle. */
const secretIn = ({ plaintext, value }: JsonObject): unknown =>
  typeof plaintext === "string" ? printedJson(plaintext) : value;

/** A value with every secret in it replaced, at any depth. */
const changedSecrets = (value: unknown, change: (sealed: JsonObject) => unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => changedSecrets(item, change));
  if (isSecretValue(value)) return change(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, changedSecrets(member, change)]),
  );
};

/**
 * Returns a value from a state or the lifecycle as a program sees it, with plain-text secrets
 * unwrapped.
 */
export const openedSecrets = (value: unknown): unknown =>
  // One secret inside a list makes the whole list secret.
  changedSecrets(value, (sealed) => openedSecrets(secretIn(sealed)));

/** Whether a value in a state is a secret that only Pulumi can decrypt. */
export const isEncrypted = (value: unknown): boolean =>
  isSecretValue(value) && secretIn(value) === undefined;

/**
 * Returns the names of the fields that contain a value that the program made secret. A secret
 * inside a list makes the whole list secret, so the item itself can no longer be identified.
 *
 * @param isWanted default: every secret, in plain text or not
 */
export const sealedFields = (
  { fields }: Definition,
  values: JsonObject,
  isWanted: (value: unknown) => boolean = isSecretValue,
): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    valuesIn({ [name]: field }, values).some(
      ({ field: of, value }) => !of.secret && isWanted(value),
    )
      ? [name]
      : [],
  );

/**
 * Returns a function that hides, in reports, the value of any field that the state keeps secret.
 */
export const veiledIn =
  (sealed: readonly string[]) =>
  (path: string, value: string): string =>
    sealed.includes(path.split(/[.[]/)[0] ?? "") ? "[secret]" : value;

/**
 * Converts a value from the lifecycle to the form used in a state. Pulumi encrypts the secrets in
 * it on import.
 */
export const stateValue = (value: unknown): unknown =>
  changedSecrets(value, (sealed) => ({
    ...secretSignature,
    plaintext: JSON.stringify(sealed.value),
  }));

/** Returns inputs or outputs with their secrets in plain text. */
export const openedValues = (given: JsonObject | undefined): JsonObject => {
  const opened = openedSecrets(given ?? {});
  return isObject(opened) ? opened : {};
};

/**
 * Returns the definition of a resource's kind; undefined for resources from other packages and for
 * anything that is not an object in the service.
 */
export const definitionOfType = (type: string): Definition | undefined =>
  resources.find(({ kind }) => kindOfToken(type) === kind);

/** Returns the resources that represent an object: no lookups, and none that will be deleted. */
export const heldObjects = (all: readonly StateResource[]) =>
  all.flatMap((resource) => {
    const { type, id, external, delete: leaving } = resource;
    const definition = definitionOfType(type);
    return definition && id && !external && !leaving ? [{ definition, id, resource }] : [];
  });

/**
 * Returns the account that a resource uses: its profile, or `provider <name>` for an explicit
 * provider of the plugin; undefined for the settings without a profile.
 */
export const accountIn = ({
  inputs,
  provider = "",
}: Pick<StateResource, "inputs" | "provider">): string | undefined => {
  const { profile } = openedValues(inputs);
  if (typeof profile === "string") return profile;
  // Behind the URN is the id, which a preview may not know.
  const { type, name } = urnParts(provider.replace(/::[^:]*$/, ""));
  return type === providerToken && !isDefaultProvider(name) ? providerAccount(name) : undefined;
};

export const logicalName = (urn: string): string => urn.split("::").slice(3).join("::");
