import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { projectDocument, saltOfStack } from "../../../provider/pulumi-cli/project-files.js";
import { temporaryFolder } from "../temporary-folder.js";

const read = (text: string) => {
  const file = join(temporaryFolder(), "Pulumi.yaml");
  writeFileSync(file, text);
  return projectDocument(file);
};

const word = fc.stringMatching(/^[A-Za-z][\w.-]{0,12}$/);
const path = fc.constantFrom("src", "./src/", "../shared/program", "a b/index.ts", "dist/index.js");
const quoted = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `"${text}"`,
  (text) => `'${text}'`,
  (text) => `${text}   # a comment`,
);
const nested = "runtime:\n  name: nodejs\n  main: wrong\n";
const plugins = "plugins:\n  providers:\n    - name: other\n      path: ./plugin\n";

test("name and main are those of the document, wherever they stand and however they are written", () => {
  const forms = fc.record({
    ...{ name: word, main: path, quote: quoted },
    before: fc.subarray([nested, plugins, "# name: no\n", "---\n"]),
    lineEnd: fc.constantFrom("\n", "\r\n"),
  });
  fc.assert(
    fc.property(forms, ({ name, main, quote, before, lineEnd }) => {
      const start = before.filter((each) => each === "---\n");
      const others = before.filter((each) => each !== "---\n");
      const block = [...start, ...others, `name: ${quote(name)}\n`, `main: ${quote(main)}\n`].join(
        "",
      );
      expect(read(block.replaceAll("\n", lineEnd))).toEqual({ name, main });
      const value = { plugins: { providers: [{ name: "other" }] }, name, main };
      expect(read(JSON.stringify(value))).toEqual({ name, main });
      expect(read(JSON.stringify(value, null, 2))).toEqual({ name, main });
      expect(read(`{name: ${name}, runtime: nodejs, main: ${main}}`)).toEqual({ name, main });
    }),
    { numRuns: 60, seed: 4 },
  );
});

test("what is not there is not made up", () => {
  expect(read("runtime: nodejs\n")).toEqual({});
  expect(read(nested)).toEqual({});
  expect(read("")).toEqual({});
});

test("the salt of a stack stands in the stack's own file, beside the project file or where that says", () => {
  const folder = temporaryFolder();
  const project = join(folder, "Pulumi.yaml");
  writeFileSync(project, "name: shop\n");
  expect(saltOfStack(project, "prod")).toBeUndefined();
  writeFileSync(join(folder, "Pulumi.prod.yaml"), "encryptionsalt: v1:a+/=:v1:b:c==\nconfig: {}\n");
  writeFileSync(join(folder, "Pulumi.test.yaml"), "secretsprovider: awskms://key\n");
  expect(saltOfStack(project, "prod")).toBe("v1:a+/=:v1:b:c==");
  expect(saltOfStack(project, "test")).toBeUndefined();
  mkdirSync(join(folder, "stacks"));
  writeFileSync(project, "name: shop\nstackConfigDir: stacks\n");
  expect(saltOfStack(project, "prod")).toBeUndefined();
  writeFileSync(join(folder, "stacks", "Pulumi.prod.yaml"), '"encryptionsalt": "v1:x:v1:y:z"\n');
  expect(saltOfStack(project, "prod")).toBe("v1:x:v1:y:z");
});
