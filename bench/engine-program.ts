import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The smallest program with dynamic resources: one provider, which creates at once. */
const floorProgram = (resources: number): string => `
const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: inputs.name, outs: inputs }) };
class Small extends pulumi.dynamic.Resource {
  constructor(name, props) { super(provider, name, props); }
}
for (let n = 0; n < ${resources}; n++)
  new Small("small-" + n, { name: "bench-" + n, type: "basic", username: "hub", password: "no-real-secret" });
`;

/** The same with this package. */
const ourProgram = (resources: number): string => `
const { Authentication } = require("pulumi-conversation");
for (let n = 0; n < ${resources}; n++)
  new Authentication("small-" + n, { name: "bench-" + n, basicAuth: { username: "hub", password: "no-real-secret" } });
`;

/** The programs that are compared. */
export const programs = { floor: floorProgram, ours: ourProgram } as const;

export type ProgramName = keyof typeof programs;

/** Writes a project with one of the programs into a new folder. */
export const writeProject = (
  folder: string,
  root: string,
  program: ProgramName,
  resources: number,
): void => {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "pulumi-conversation"));
  symlinkSync(join(root, "node_modules", "@pulumi"), join(folder, "node_modules", "@pulumi"));
  writeFileSync(join(folder, "Pulumi.yaml"), `name: ${program}\nruntime: nodejs\nmain: index.js\n`);
  const description = JSON.stringify({ name: program, main: "index.js" });
  writeFileSync(join(folder, "package.json"), description);
  writeFileSync(join(folder, "index.js"), programs[program](resources));
};
