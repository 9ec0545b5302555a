import * as pulumi from "@pulumi/pulumi";

/**
 * What is to be adopted, from the argument `adopt` and the option `import`: the latter cannot work
 * for a resource of this sort, and `adopt` does what it is meant for.
 *
 * @throws pulumi.RunError where the two contradict each other
 */
export const adoption = (
  kind: string,
  name: string,
  adopt: unknown,
  imported: unknown,
): pulumi.Inputs => {
  if (imported === undefined) return {};
  if (adopt === undefined || adopt === imported) return { adopt: imported };
  const said = typeof adopt === "object" ? "something else" : JSON.stringify(adopt);
  throw new pulumi.RunError(
    `${kind} ${JSON.stringify(name)}: the option import says ${JSON.stringify(imported)}, the argument adopt says ${said}. Both name the object to take over: give only one of them`,
  );
};
