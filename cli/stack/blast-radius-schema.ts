import { z } from "zod";

const object = { kind: z.string(), name: z.string(), id: z.string() };

/** Shape of an object that still uses one that is to be deleted. */
export const remainingUserSchema = z.strictObject({
  ...object,
  path: z.string().describe("Where it refers to it, such as roles[0].authentication"),
  managed: z
    .enum(["own", "stack", "unmanaged"])
    .describe("Who has it: this stack, another one, or none"),
  stack: z.exactOptional(z.string()).describe("The stack that has it, or that its mark names"),
});

/** Shape of a deletion that the service will refuse. */
export const blockedDeletionSchema = z.strictObject({
  ...object,
  urn: z.string(),
  users: z.array(remainingUserSchema),
});

/** Shape of one step of an order that works. */
export const orderedStepSchema = z.strictObject({
  action: z
    .enum(["release", "delete"])
    .describe("release: change it so that it no longer refers to what is deleted, or delete it"),
  ...object,
});

/** Shape of `deletions` in what `forecast --json` and `drift --json` print. */
export const blastRadiusSchema = z.strictObject({
  deletions: z.int().min(0).describe("Objects that the run deletes"),
  blocked: z.array(blockedDeletionSchema).describe("Deletions that the service will refuse"),
  order: z.array(orderedStepSchema).describe("An order that works; empty: nothing is blocked"),
  unread: z
    .exactOptional(z.array(z.string()))
    .describe(
      "Kinds that could not be read, so that it is not known whether they use what is deleted",
    ),
});
