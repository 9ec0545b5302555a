import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { runCommand } from "../provider/pulumi-cli/processes.js";
import { environmentOfPackages } from "../provider/service/settings.js";

const LONGEST_MS = 600_000;

const manifestSchema = z.object({ name: z.string(), version: z.string() });

type Manifest = z.output<typeof manifestSchema>;

const manifestIn = (folder: string): Manifest =>
  manifestSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));

const called = ({ name, version }: Manifest): string => `${name}@${version}`;

/** Runs npm in a folder. @throws Error with its last words if it fails */
const npm = async (cwd: string, ...args: readonly string[]): Promise<string> => {
  const env = environmentOfPackages(process.env);
  const ended = await runCommand("npm", args, { cwd, env, timeoutMs: LONGEST_MS });
  if (ended.code === 0) return ended.stdout;
  throw new Error(`npm ${args.join(" ")} failed:\n  ${ended.lastLines.slice(-5).join("\n  ")}`);
};

const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

const packedSchema = z.tuple([z.object({ filename: z.string() })]);

/** The package of a folder as npm would publish it. @returns the path of the archive */
export const packInto = async (folder: string, root: string): Promise<string> => {
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [{ filename }] = packedSchema.parse(JSON.parse(await npm(root, ...pack)));
  return join(folder, filename);
};

/** Every package below a folder `node_modules`, as it lies on the disk. */
const packagesBelow = (modules: string): readonly Manifest[] => {
  if (!existsSync(modules)) return [];
  return readdirSync(modules, { withFileTypes: true }).flatMap(({ name }) => {
    const folder = join(modules, name);
    if (name.startsWith("@")) return packagesBelow(folder);
    if (!existsSync(join(folder, "package.json"))) return [];
    return [manifestIn(folder), ...packagesBelow(join(folder, "node_modules"))];
  });
};

const billSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  metadata: z.object({ component: manifestSchema }),
  components: z.array(manifestSchema),
});

/** Where the bill of materials of a package differs from what an installation of it holds. */
const billProblems = (
  bill: z.output<typeof billSchema>,
  own: Manifest,
  held: readonly Manifest[],
): readonly string[] => {
  const [subject, listed] = [called(bill.metadata.component), bill.components.map(called)];
  const installed = held.map(called).filter((name) => name !== called(own));
  const lacking = installed.filter((name) => !listed.includes(name));
  const extra = listed.filter((name) => !installed.includes(name));
  return [
    ...(subject === called(own)
      ? []
      : [`the bill of materials is for ${subject}, not for ${called(own)}`]),
    ...lacking.map((name) => `the bill of materials lacks ${name}, which the package installs`),
    ...extra.map(
      (name) => `the bill of materials lists ${name}, which the package does not install`,
    ),
  ];
};

/** A bill of materials for a release. */
export interface ReleaseBill {
  /** File name under which it is published. */
  readonly file: string;
  /** CycloneDX, as JSON text. */
  readonly text: string;
  /** What has to be corrected before it can be published; empty if nothing. */
  readonly problems: readonly string[];
}

/**
 * The bill of materials of a package, compared with what a project gets that installs the packed
 * package. Neither counts peers: they are the project's own choice.
 *
 * @param root folder of the package
 * @throws Error if npm cannot pack or install, such as without a registry
 */
export const releaseBill = async (root: string): Promise<ReleaseBill> => {
  const own = manifestIn(root);
  const scratch = mkdtempSync(join(tmpdir(), "conversation-release-"));
  try {
    const archive = await packInto(scratch, root);
    // In a bill, npm calls a project by the name of its folder.
    const [project, subject] = [join(scratch, "project"), join(scratch, "subject", own.name)];
    for (const folder of [project, subject]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(project, "package.json"), "{}");
    await npm(project, "install", "--omit=peer", ...quietly, archive);
    const modules = join(project, "node_modules");
    // npm makes the bill of the project that it stands in: not of one that depends on the package.
    cpSync(join(modules, own.name, "package.json"), join(subject, "package.json"));
    const production = ["--package-lock-only", "--omit=dev", "--omit=peer"];
    await npm(subject, "install", ...production, ...quietly);
    const format = ["--sbom-format=cyclonedx", "--sbom-type=library"];
    const text = await npm(subject, "sbom", ...production, ...format);
    const problems = billProblems(billSchema.parse(JSON.parse(text)), own, packagesBelow(modules));
    return { file: `${own.name}-${own.version}.cdx.json`, text, problems };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};
