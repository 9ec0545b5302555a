import { expect, test } from "vitest";
import { z } from "zod";
import { commands } from "../../cli/program.js";
import { jsonShape, jsonShapes } from "../../cli/terminal/json-shapes.js";
import { run } from "../cli/session.js";

test.each([
  [z.array(z.string()), "[text]"],
  [
    z.strictObject({ a: z.int(), b: z.exactOptional(z.array(z.strictObject({ c: z.string() }))) }),
    "{ a, b?: [{ c }] }",
  ],
  [
    z.strictObject({ plans: z.record(z.string(), z.strictObject({ s: z.int() })) }),
    "{ plans: { <name>: { s } } }",
  ],
  [
    z.discriminatedUnion("do", [
      z.strictObject({ do: z.literal("x"), only: z.string() }),
      z.strictObject({ do: z.literal("y") }),
    ]),
    "{ do, only? }",
  ],
])("a shape is shown with its members %#", (schema, shown) => {
  expect(jsonShape(schema)).toBe(shown);
});

const words = (text: string): string => text.replace(/\s+/g, " ");

const names = commands.map(({ name }) => name);

test.each(names)(
  "the help of %s names the members of its JSON, and its exit codes",
  async (name) => {
    const { out } = await run(name, "--help");
    const shapes = await jsonShapes(commands.filter((each) => each.name === name));
    expect(shapes.size).toBeGreaterThan(0);
    for (const shape of shapes.values()) expect(words(out)).toContain(words(shape));
    const spec = commands.find((each) => each.name === name);
    for (const { exits } of Object.values(spec?.uses ?? {}))
      for (const [code, meaning] of Object.entries(exits))
        expect(words(out)).toContain(`${code} ${meaning}`);
  },
);
