import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { allOperations, defaultScopes } from "../../provider/service/operations.js";
import { runtimeOperations, scopes, setUpOperations } from "../support/specification.js";

test.each([...setUpOperations, ...runtimeOperations])(
  "$method $path is an operation with its scopes and rate",
  ({ method, path, scopes: labels, rate }) => {
    const expected = { scopes: labels.map((label) => scopes[label]), rate };
    const known = allOperations().find((each) => each.method === method && each.template === path);
    expect(known).toMatchObject(expected);
  },
);

test("there are five operations for each kind and five runtime ones, all different", () => {
  const names = allOperations().map(({ method, template }) => `${method} ${template}`);
  expect(new Set(names).size).toBe(resources.length * 5 + 5);
});

test("the default scopes are the four of the specification", () => {
  expect([...defaultScopes].sort()).toEqual(Object.values(scopes).sort());
});
