import * as pulumi from "@pulumi/pulumi";

/**
 * A URN without a dependency on the parent: a component stands for all of its children, so those
 * that refer to each other would wait for one another for ever.
 */
const urnOf = (token: string, name: string, parent: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => {
    pulumi.createUrn(name, token, parent).apply(resolve);
  });

/**
 * Types of the parents of a resource, outermost first, each followed by `$`; a plain empty text
 * directly in the stack. Known in previews, since a URN is.
 */
export const parentTypes = (
  token: string,
  name: string,
  parent: pulumi.Resource | undefined,
): string | pulumi.Output<string> => {
  if (!parent) return "";
  return pulumi.output(urnOf(token, name, parent)).apply((urn) => {
    const qualified = urn.split("::")[2] ?? token;
    return qualified.slice(0, -token.length).replace("pulumi:pulumi:Stack$", "");
  });
};
