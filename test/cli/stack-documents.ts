/** A resource of a state, as far as it matters here. */
export interface StateResource {
  readonly kind: string;
  readonly name?: string;
  readonly id?: string;
  /** Logical part of the owner in the inputs. Default: the name. */
  readonly owner?: string;
  /** The same in the outputs. Default: as in the inputs. */
  readonly written?: string;
  readonly serial?: string;
  readonly delete?: true;
  readonly external?: true;
}

export const ownershipOf = (stack: string): string => `shop/${stack}/0123456789abcdef`;

const urn = (stack: string, kind: string, name: string): string =>
  `urn:pulumi:${stack}::shop::pulumi-nodejs:dynamic/conversation:${kind}::${name}`;

const written = (stack: string, resource: StateResource) => {
  const { kind, name = "x", id, owner = name, written: last = owner, serial } = resource;
  const ownership = ownershipOf(stack);
  return {
    urn: urn(stack, kind, name),
    type: `pulumi-nodejs:dynamic/conversation:${kind}`,
    ...(id ? { id } : {}),
    ...(resource.delete ? { delete: true } : {}),
    ...(resource.external ? { external: true } : {}),
    inputs: { owner: `${ownership}/${owner}` },
    outputs: { owner: `${ownership}/${last}`, ...(serial ? { serial } : {}) },
  };
};

/** What `pulumi stack export` prints of a stack of the project `shop`. */
export const stateText = (
  stack: string,
  resources: readonly StateResource[],
  pending: readonly StateResource[] = [],
): string => {
  const root = {
    urn: `urn:pulumi:${stack}::shop::pulumi:pulumi:Stack::shop-${stack}`,
    type: "pulumi:pulumi:Stack",
  };
  const ownership = written(stack, {
    kind: "Ownership",
    name: "ownership",
    id: ownershipOf(stack),
  });
  const all = resources.length + pending.length === 0 ? [] : [root, ownership];
  return JSON.stringify({
    version: 3,
    deployment: {
      resources: [...all, ...resources.map((resource) => written(stack, resource))],
      pending_operations: pending.map((resource) => ({
        type: "creating",
        resource: written(stack, resource),
      })),
    },
  });
};
