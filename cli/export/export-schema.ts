import { z } from "zod";

const resource = {
  kind: z.string(),
  id: z.string(),
  name: z.string().describe("Logical name in the program"),
};

/** Shape of what came of an export on an emulator that holds the same account. */
export const proofSchema = z.strictObject({
  ok: z.boolean().describe("The import went through, and nothing changes after it"),
  differences: z
    .array(z.string())
    .describe("What would change: operation, resource and the members in question"),
});

/** Shape of what `export --json` prints. */
export const exportSchema = z.strictObject({
  folder: z.string(),
  project: z.string(),
  stack: z.string(),
  files: z.array(z.string()),
  kept: z.array(z.string()).describe("Files that hold what you have set, and were left"),
  resources: z.array(z.strictObject(resource)).describe("What the program declares"),
  lookedUp: z.array(z.strictObject(resource)).describe("What it only refers to"),
  managed: z
    .array(
      z.strictObject({
        ...resource,
        mark: z.string().describe("Project, stack and logical name of who manages it"),
      }),
    )
    .describe("What of the resources a stack manages; not in import.json"),
  skipped: z.array(z.strictObject({ kind: z.string(), id: z.string(), reason: z.string() })),
  secrets: z
    .array(
      z.strictObject({
        key: z.string().describe("Key of the stack's configuration"),
        ...resource,
        path: z.string(),
      }),
    )
    .describe("What the configuration of the stack has to hold"),
  undeclared: z
    .array(z.strictObject({ ...resource, path: z.string() }))
    .describe("Members that the program does not declare, and that stay as they are"),
  possibleSecrets: z.array(z.strictObject({ ...resource, path: z.string() })),
  notes: z.array(z.string()).describe("What could not be read"),
  proof: z.exactOptional(proofSchema).describe("With --prove"),
});
