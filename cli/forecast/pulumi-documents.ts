import { z } from "zod";

const names = z.array(z.string()).nullish();

const resource = z.object({
  urn: z.string(),
  type: z.string(),
  custom: z.boolean().nullish(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  parent: z.string().nullish(),
  dependencies: names,
  propertyDependencies: z.record(z.string(), names).nullish(),
  deletedWith: z.string().nullish(),
  retainOnDelete: z.boolean().nullish(),
  external: z.boolean().nullish(),
  delete: z.boolean().nullish(),
});

const preview = z.object({
  steps: z
    .array(
      z.object({
        op: z.string(),
        urn: z.string(),
        oldState: resource.nullish(),
        newState: resource.nullish(),
      }),
    )
    .default([]),
  /** Nanoseconds. */
  duration: z.number().nullish(),
  changeSummary: z.record(z.string(), z.number()),
});

const state = z.object({
  version: z.number(),
  deployment: z.object({ resources: z.array(resource).nullish() }),
});

/** A resource as Pulumi writes it in a preview or in the state of a stack. */
export type PulumiResource = z.infer<typeof resource>;

/** What `pulumi preview --json` prints. */
export type Preview = z.infer<typeof preview>;

/** What `pulumi stack export` prints. */
export type State = z.infer<typeof state>;

/** One of Pulumi's two documents, told apart by what is in it; undefined for anything else. */
export const readDocument = (
  text: string,
): { readonly preview: Preview } | { readonly state: State } | undefined => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const asPreview = preview.safeParse(json);
  if (asPreview.success) return { preview: asPreview.data };
  const asState = state.safeParse(json);
  return asState.success ? { state: asState.data } : undefined;
};

/** The resources of a state, in the order in which they were made. */
export const resourcesOf = ({ deployment }: State): readonly PulumiResource[] =>
  deployment.resources ?? [];

const diagnostics = z.object({
  diagnostics: z.array(z.object({ message: z.string(), severity: z.string() })),
});

/** What a preview that failed says was wrong, without colours; empty where it says nothing. */
export const errorsIn = (text: string): readonly string[] => {
  try {
    const read = diagnostics.safeParse(JSON.parse(text));
    if (!read.success) return [];
    const errors = read.data.diagnostics.filter(({ severity }) => severity === "error");
    return errors.map(({ message }) => plain(message).trim());
  } catch {
    return [];
  }
};

const escapeCharacter = String.fromCharCode(27);

const plain = (text: string): string =>
  text
    .split(escapeCharacter)
    .map((part, index) => (index === 0 ? part : part.replace(/^\[[\d;]*m/, "")))
    .join("");
