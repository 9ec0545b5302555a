import type { BlastRadius } from "../stack/blast-radius.js";

/** A field that is not what the state has. */
export interface DriftChange {
  /** As a program would write it, such as `roles[custom_bot].callback`. */
  readonly path: string;
  /** Short JSON text of what the state has; left out where it has nothing. Secrets are `[secret]`. */
  readonly state?: string;
  /** Short JSON text of what the service holds; left out where it holds nothing. */
  readonly live?: string;
}

/** A resource of the stack, with its object. */
interface ManagedObject {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  readonly urn: string;
}

/** An object that somebody changed. */
export interface ChangedObject extends ManagedObject {
  readonly changes: readonly DriftChange[];
  /** When the service says that it was changed last. */
  readonly modified?: string;
  /** Who may have done it, in a sentence without a dot. */
  readonly who: string;
}

/** An object that is gone. */
export interface DeletedObject extends ManagedObject {
  readonly who: string;
  /** Id of an object that has the same name now. */
  readonly sameName?: string;
}

/** An object that no stack has. */
export interface UnmanagedObject {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /**
   * `foreign`: without a mark; `left-over`: this stack made it; `copy`: a person made it from one of ours;
   * `former`: of a state that is no more, or that cannot be seen.
   */
  readonly standing: "foreign" | "left-over" | "copy" | "former";
  readonly created?: string;
  readonly modified?: string;
  /** Project, stack and logical name, as its mark tells them. */
  readonly label?: string;
}

/** An object of another stack. */
export interface OtherStacksObject {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
  /** The stack, as the CLI names it, or as the mark does. */
  readonly stack: string;
}

/** Secrets that the service hides, so that nobody can tell whether they changed. */
export interface UncheckableSecrets extends ManagedObject {
  readonly paths: readonly string[];
  /** When somebody changed the object, after this stack wrote it last. */
  readonly changedSince?: string;
}

/** What differs between a stack and the service. */
export interface DriftResult {
  readonly project: string;
  readonly stack: string;
  /** ISO 8601. */
  readonly readAt: string;
  /** False where an account changed while it was read. */
  readonly consistent: boolean;
  /** Whether anything was changed or deleted outside, or is in no stack. */
  readonly drift: boolean;
  readonly changed: readonly ChangedObject[];
  readonly deleted: readonly DeletedObject[];
  readonly unmanaged: readonly UnmanagedObject[];
  readonly otherStacks: readonly OtherStacksObject[];
  readonly uncheckable: readonly UncheckableSecrets[];
  /** Kinds that could not be read whole, and why. */
  readonly unread: readonly { readonly kind: string; readonly problem: string }[];
  /** Resources of the stack that were compared. */
  readonly compared: number;
  readonly notes: readonly string[];
  /** With a preview: who stands in the way of what it deletes. */
  readonly deletions?: BlastRadius;
}
