import type { Orphan, Standing } from "../../provider/lifecycle/ownership/orphans.js";

/** A marked object that is in no state of its stack, as the command prints it. */
export interface FoundOrphan {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** Project, stack and logical name, as the object's mark tells them. */
  readonly label: string;
  readonly standing: Standing;
  /** A run began to make it and did not report: the next `up` takes it over. */
  readonly pending?: true;
  /** The resources that hold it or look it up. */
  readonly heldBy?: readonly { readonly stack: string; readonly urn: string }[];
  /** Only where it was to be deleted: whether it is gone. */
  readonly deleted?: boolean;
  /** Only where it was to be released: whether its mark is gone. */
  readonly released?: boolean;
  /** Why it was not deleted or released. */
  readonly reason?: string;
}

/** An orphan without what only the tool itself needs. */
export const shownOrphan = (orphan: Orphan): FoundOrphan => {
  const { definition, name, id, mark, standing, pending, heldBy } = orphan;
  return {
    kind: definition.kind,
    name: typeof name === "string" ? name : "",
    id,
    label: mark.label,
    standing,
    ...(pending ? { pending } : {}),
    ...(heldBy.length > 0 ? { heldBy: heldBy.map(({ stack, urn }) => ({ stack, urn })) } : {}),
  };
};
