import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChangeValue,
  changeInside,
  changeMembers,
  valuesIn,
} from "../../provider/definition/walk.js";
import { kinds } from "./support/every-field.js";
import { anyValues } from "./support/values.js";

describe.each(kinds)("$kind", ({ fields, rule }) => {
  test("a change reaches every value that is collected, and nothing else becomes another one", () => {
    fc.assert(
      fc.property(anyValues(fields, rule), (values) => {
        const reached: unknown[] = [];
        const same: ChangeValue = (field, value) => {
          reached.push(value);
          return changeInside(field, value, same);
        };
        expect(changeMembers(fields, values, same)).toEqual(values);
        expect(reached).toEqual(valuesIn(fields, values).map(({ value }) => value));
      }),
    );
  });

  test("members that no field knows stay, and what becomes nothing goes", () => {
    fc.assert(
      fc.property(anyValues(fields, rule), (values) => {
        const more = { ...values, "not a field": { a: 1 }, __proto: [null] };
        const without: ChangeValue = (field, value) =>
          field.secret ? undefined : changeInside(field, value, without);
        const left = changeMembers(fields, more, without);
        expect(left).toMatchObject({ "not a field": { a: 1 }, __proto: [null] });
        const secrets = valuesIn(fields, left).filter(
          ({ field, value }) => field.secret && value !== undefined,
        );
        expect(secrets).toEqual([]);
      }),
    );
  });
});
