import { packageName, packageVersion } from "../../provider/kernel/package.js";
import { type Settings, settingTable } from "../../provider/service/setting-table.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";

/** The names of the project that an export writes. */
export interface ProjectNames {
  readonly project: string;
  readonly stack: string;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** YAML takes JSON texts. */
const yamlText = (value: unknown): string =>
  typeof value === "string" &&
  /^[A-Za-z][\w./-]*$/.test(value) &&
  !/^(true|false|yes|no|on|off|null|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value);

/** Settings of the account that are no secrets and not the defaults. */
const settingLines = (settings: Settings, profile: string | undefined): readonly string[] =>
  Object.entries(settingTable).flatMap(([key, spec]) => {
    const value = Object.entries(settings).find(([name]) => name === key)?.[1];
    // What a file of findings says is among the settings by now.
    const isSaid = key !== "findings" && !spec.secret;
    const isWritten = value !== undefined && isSaid && value !== spec.default;
    const name = profile ? `${profile}.${key}` : key;
    return isWritten ? [`  conversation:${name}: ${yamlText(String(value))}`] : [];
  });

/** Everything of a project but its program, by file name. */
export const projectFiles = (
  { project, stack }: ProjectNames,
  settings: Settings,
  profile: string | undefined,
  packed: () => Pick<PackedPackage, "dependency"> | undefined = packedPackage,
): ReadonlyMap<string, string> =>
  new Map([
    [
      "Pulumi.yaml",
      [
        `name: ${yamlText(project)}`,
        `description: ${yamlText("A conversation account of the messaging hub")}`,
        "runtime: nodejs",
        "main: index.ts",
        "",
      ].join("\n"),
    ],
    [`Pulumi.${stack}.yaml`, ["config:", ...settingLines(settings, profile), ""].join("\n")],
    [
      "package.json",
      json({
        name: project.toLowerCase(),
        private: true,
        main: "index.ts",
        scripts: { check: "tsc --noEmit" },
        dependencies: {
          "@pulumi/pulumi": "^3.270.0",
          [packageName]: packed()?.dependency ?? `^${packageVersion()}`,
        },
        devDependencies: { typescript: "^6.0.3" },
      }),
    ],
    [
      "tsconfig.json",
      json({
        compilerOptions: {
          target: "es2022",
          module: "nodenext",
          strict: true,
          noEmit: true,
          skipLibCheck: true,
        },
        include: ["*.ts"],
      }),
    ],
    [".gitignore", "node_modules/\n"],
  ]);
