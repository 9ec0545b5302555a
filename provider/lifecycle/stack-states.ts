/** A resource from this package in a stack's state that represents an object in the service. */
export interface Holding {
  /**
   * The stack's name in the CLI, such as `prod`; for stacks in other projects, with organization
   * and project.
   */
  readonly stack: string;
  readonly urn: string;
  readonly kind: string;
  readonly id: string;
  /**
   * The owner, from which the mark of the resource's object is derived:
   * `<project>/<stack>/<random>/<logical name>`.
   */
  readonly owner?: string;
  /**
   * The last written owner, if it differs, for example because the resource has since been renamed.
   */
  readonly writtenOwner?: string;
  /** The part of the object's mark that is new with every POST; undefined if it has no mark. */
  readonly serial?: string;
  /** Whether the resource belongs to the requested stack. */
  readonly own: boolean;
  /** Present if the resource is one of the plugin, and not a dynamic one. */
  readonly isPlugins?: true;
  /** Present if another resource has replaced this one, which will be deleted. */
  readonly leaving?: true;
  /** Present if the resource was imported, and no run has checked and written it since. */
  readonly isUnsettled?: true;
}

/** A creation that a run began and never completed. */
export interface PendingCreation {
  readonly urn: string;
  readonly kind: string;
  readonly owner?: string;
}

/** What one stack's state shows about the service. */
export interface StackState {
  /** Short name of the stack; undefined if the state is empty. */
  readonly name?: string;
  readonly project?: string;
  /** ID of the stack's `Ownership`. */
  readonly ownership?: string;
  /** The ownership IDs that the plugin's providers created for their resources. */
  readonly pluginOwnerships?: readonly string[];
  /** The ID of each `Ownership` that an unfinished run has replaced. */
  readonly replacedOwnerships?: readonly string[];
  readonly holdings: readonly Holding[];
  /** Resources that only look up an object (`get`). */
  readonly lookUps: readonly Holding[];
  readonly pending: readonly PendingCreation[];
}

/** What the states that were read show about the service. */
export interface StackStates {
  /**
   * The requested stack; `ownership` is undefined if the stack has created nothing or was
   * destroyed.
   */
  readonly own: Pick<StackState, "name" | "project" | "ownership" | "pluginOwnerships">;
  /** Every resource that represents an object, except those that only look one up. */
  readonly holdings: readonly Holding[];
  holdersOf(kind: string, id: string): readonly Holding[];
  /** Returns the resources that look up an object (`get`). */
  readersOf(kind: string, id: string): readonly Holding[];
  /**
   * Returns the resource of this kind, owner and door in the requested stack, if there is one. The
   * resource's URN contains its current name in the program.
   */
  resourceOf(kind: string, owner: string, isPlugins: boolean): Holding | undefined;
  /** Creations in the requested stack that a run started and never completed. */
  readonly pending: readonly PendingCreation[];
  /** The ownership IDs of all stacks that were read, including the requested one. */
  readonly ownerships: readonly string[];
  /** Whether all stacks in the backend could be read. */
  readonly complete: boolean;
}

/** What identifies a resource in the marks of its objects. */
export interface ResourceMark {
  /** Project, stack, and logical name, for people. */
  readonly label: string;
  readonly stack: string;
  readonly resource: string;
}

/**
 * The owner mark, such as `[pulumi: shop/prod orders-bot #5f0c1a2b-9b2e77aa01cd-0tm9x2k4r7q1c2d]`:
 * a short suffix in an object's description that shows people and later runs which resource owns
 * the object. After `#`, the first part identifies the stack's `Ownership`, the second the
 * resource, and the third the object.
 */
export interface Mark extends ResourceMark {
  /**
   * The object's serial, new with every POST. A copy made by a person has the original's serial.
   * Empty in a mark of release 0.1.0.
   */
  readonly serial: string;
  /** A checksum of the serial and the name. A copy with another name does not match its mark. */
  readonly checksum: string;
}
