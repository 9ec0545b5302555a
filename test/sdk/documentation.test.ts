import { expect, test } from "vitest";
import { exampleErrors, examples } from "./support/public-docs.js";

test("every example of the documentation compiles where a user writes it", () => {
  expect(examples.length).toBeGreaterThan(30);
  expect(exampleErrors()).toEqual([]);
});
