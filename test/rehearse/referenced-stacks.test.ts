import { expect, test } from "vitest";
import { stackReferencesIn, unknownStackIn } from "../../cli/rehearse/stack-copy.js";

test("the stacks that a state refers to are named once each, as the program calls them", () => {
  const reference = (name: string) => ({
    urn: `urn:pulumi:prod::shop::pulumi:pulumi:StackReference::${name}`,
    type: "pulumi:pulumi:StackReference",
    id: name,
    inputs: { name },
    external: true,
  });
  const names = ["organization/infra/prod", "infra/prod", "organization/infra/prod"];
  const other = { urn: "urn:pulumi:prod::shop::a:b:C::c", type: "a:b:C", inputs: { name: "c" } };
  const resources = [...names.map(reference), other];
  expect(stackReferencesIn({ version: 3, deployment: { resources } })).toEqual(names.slice(0, 2));
  expect(stackReferencesIn({ version: 3, deployment: {} })).toEqual([]);
});

test("the first stack that Pulumi does not know is found in what it says", () => {
  const said = ["preview failed", 'Preview failed: unknown stack "organization/infra/prod"'];
  expect(unknownStackIn(said)).toBe("organization/infra/prod");
  expect(unknownStackIn(["Preview failed: organization name must be 'organization'"])).toBe(
    undefined,
  );
});
