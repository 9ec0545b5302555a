import { z } from "zod";

const object = { kind: z.string(), name: z.string(), id: z.string() };

/** Shape of an object that still uses one that is to be deleted. */
export const remainingUserSchema = z.strictObject({
  ...object,
  path: z.string().describe("Path to the reference, such as `roles[0].authentication`"),
  managed: z
    .enum(["own", "stack", "unmanaged"])
    .describe(
      "Whether this stack (`own`), another stack (`stack`), or no stack (`unmanaged`) manages the object",
    ),
  stack: z
    .exactOptional(z.string())
    .describe("The stack that manages the object, or the stack named in its mark"),
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
    .describe(
      "`release`: change the object so that it no longer refers to a deleted object, or delete it",
    ),
  ...object,
});

/** Shape of `deletions` in what `forecast --json` and `drift --json` print. */
export const blastRadiusSchema = z.strictObject({
  deletions: z.int().min(0).describe("Number of objects that the run deletes"),
  blocked: z.array(blockedDeletionSchema).describe("Deletions that the service will refuse"),
  order: z
    .array(orderedStepSchema)
    .describe("An order of steps that works; empty if nothing is blocked"),
  unread: z
    .exactOptional(z.array(z.string()))
    .describe("Unread kinds whose objects may use the deleted objects"),
});
