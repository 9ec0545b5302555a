/** The parts of an owner: `<project>/<stack>/<random>/<logical name>`. */
interface OwnerParts {
  readonly project: string;
  readonly stack: string;
  /** Id of the stack's `Ownership`: `<project>/<stack>/<random>`. */
  readonly ownership: string;
  /** The resource's logical name, after the types of its parents. */
  readonly name: string;
}

/** The parts of an owner. */
export const ownerParts = (owner: string): OwnerParts => {
  const [project = "", stack = "", random = "", ...name] = owner.split("/");
  return { project, stack, ownership: `${project}/${stack}/${random}`, name: name.join("/") };
};
