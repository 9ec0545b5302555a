import { naturalKey } from "../../provider/definition/kinds.js";
import { packageName, packageVersion } from "../../provider/kernel/package.js";
import { yamlText } from "../../provider/kernel/text.js";
import { type Settings, settingTable } from "../../provider/service/settings.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import { codeSpan, markdownTable, withCount } from "../terminal/columns.js";
import type { PlannedResource, ProgramPlan } from "./program-plan.js";
import {
  declarationText,
  membersText,
  type ProgramSecret,
  quotedText,
  secretKeys,
} from "./source-text.js";

export interface ProjectNames {
  readonly project: string;
  readonly stack: string;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Settings of the account that are no secrets and not the defaults. */
const settingLines = (settings: Settings, profile: string | undefined): readonly string[] =>
  Object.entries(settingTable).flatMap(([key, spec]) => {
    const value = Object.entries(settings).find(([name]) => name === key)?.[1];
    const isWritten = value !== undefined && !spec.secret && value !== spec.default;
    const name = profile ? `${profile}.${key}` : key;
    return isWritten ? [`  conversation:${name}: ${yamlText(String(value))}`] : [];
  });

/** All files of a project except its program, by file name. */
export const projectFiles = (
  { project, stack }: ProjectNames,
  settings: Settings,
  profile: string | undefined,
  packed: () => Pick<PackedPackage, "dependency"> | undefined = packedPackage,
): ReadonlyMap<string, string> =>
  new Map([
    [
      "Pulumi.yaml",
      [`name: ${yamlText(project)}`, "runtime: nodejs", "main: index.ts", ""].join("\n"),
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
          "@pulumi/pulumi": "^3.276.0",
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

/** An object by its natural key: `channel "custom.kiosk"`. */
const objectLabel = ({ definition, fields, id }: ObjectInputs): string => {
  const name = fields[naturalKey(definition)];
  return `${definition.noun} ${typeof name === "string" ? quotedText(name) : id}`;
};

/** More omitted objects than this are only counted, because their reasons are long and alike. */
const mostOmitted = 3;

/** Which objects a command omits, and why. */
export const omittedSentences = (omitted: ProgramPlan["skipped"]): readonly string[] =>
  omitted.length > mostOmitted
    ? [`Omitted: ${omitted.length} objects. To list them with the reasons, add --json.`]
    : omitted.map(
        ({ object, reason }) => `Omitted: ${objectLabel(object)} (ID ${object.id}): ${reason}.`,
      );

const importLine = "pulumi import --file import.json --generate-code=false --protect=false --yes";

const secretRows = (secrets: readonly ProgramSecret[]): readonly string[] =>
  markdownTable(
    ["Key", "Object", "Member"],
    secrets.map(({ key, resource: { object }, path }) =>
      [key, objectLabel(object), path].map((text) => codeSpan(text)),
    ),
  );

export const projectReadme = (
  { project, stack }: ProjectNames,
  { declared }: ProgramPlan,
  secrets: readonly ProgramSecret[],
): string => {
  const steps = [
    // This package first if the registry does not have it.
    ...[packedPackage()?.command ?? []].flat(),
    "npm install",
    `pulumi stack init ${stack}`,
    "# Pulumi asks for each value:",
    "pulumi config set --secret conversation:clientSecret",
    ...(secrets.length > 0 ? ["# For each secret in the table below:"] : []),
    ...secrets.slice(0, 1).map(({ key }) => `pulumi config set --secret ${key}`),
    importLine,
    "pulumi preview",
  ];
  const blocks = [
    `# ${project}`,
    `${withCount(declared.length, "object")} from a conversation account, as a Pulumi program.`,
    "## Next steps",
    ...(declared.length === 0
      ? ["There is nothing to import."]
      : [
          ["```sh", ...steps, "```"].join("\n"),
          "The preview shows no changes. The import makes no calls to the service; it only records which object belongs " +
            "to which resource. The first `pulumi up` writes the dependencies into the state, so run it before you delete " +
            "anything.",
        ]),
    ...(secrets.length === 0
      ? []
      : [
          "## Secrets to set",
          "These files contain no secrets. The first value that you set is assumed to match the service, so a run " +
            "writes it only when its object changes. Set each secret with `pulumi config set --secret <key>`.",
          secretRows(secrets).join("\n"),
        ]),
  ];
  return `${blocks.join("\n\n")}\n`;
};

export interface ProgramSource {
  readonly text: string;
  readonly secrets: readonly ProgramSecret[];
}

const membersOf = (
  resource: PlannedResource,
  plan: ProgramPlan,
  keyOf: (resource: PlannedResource, path: string) => string,
  profile: string | undefined,
): readonly string[] => {
  const { definition, fields } = resource.object;
  const { rule } = definition;
  // The discriminator is implied by the member that it names.
  const given = Object.fromEntries(
    Object.entries(fields).filter(
      ([name]) => !(rule && "exactlyOne" in rule && name === rule.discriminator),
    ),
  );
  return [
    ...membersText(definition.fields, given, {
      reference: (to, id) => plan.find(to.kind, id)?.variable ?? quotedText(id),
      secret: (path) => `secrets.${keyOf(resource, path)}`,
    }),
    ...(profile ? [`profile: ${quotedText(profile)}`] : []),
  ];
};

const declarations = (
  plan: ProgramPlan,
  keyOf: (resource: PlannedResource, path: string) => string,
  profile: string | undefined,
): readonly string[] => {
  const lookUp = profile ? [`{ profile: ${quotedText(profile)} }`] : [];
  return [
    ...plan.lookedUp.map(({ object: { definition, id }, logical, variable }) =>
      declarationText(`const ${variable} = ${definition.kind}.get`, [
        ...[quotedText(logical), quotedText(id), ...lookUp],
      ]),
    ),
    ...plan.declared.map((resource) =>
      declarationText(
        `const ${resource.variable} = new ${resource.object.definition.kind}`,
        [quotedText(resource.logical)],
        membersOf(resource, plan, keyOf, profile),
      ),
    ),
  ];
};

/** Code that reads the configuration that a program needs, before any resource is declared. */
const secretsText = (secrets: readonly ProgramSecret[]): string =>
  [
    "const config = new pulumi.Config();",
    "",
    "// If a secret is missing, the run ends before it reads or writes anything.",
    "const secrets = {",
    ...secrets.map(({ key }) => `  ${key}: config.requireSecret(${quotedText(key)}),`),
    "};",
  ].join("\n");

const importsText = (
  { declared, lookedUp }: ProgramPlan,
  secrets: readonly ProgramSecret[],
): string => {
  const all = [...declared, ...lookedUp];
  const kinds = [...new Set(all.map(({ object }) => object.definition.kind))].toSorted();
  return [
    ...(secrets.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    ...(kinds.length > 0
      ? [`import { ${kinds.join(", ")} } from ${quotedText(packageName)};`]
      : []),
  ].join("\n");
};

/**
 * Writes the source of a program: typed, references as variables, secrets from the configuration.
 *
 * @param profile name of the settings that every resource uses, if it is not the default one
 */
export const programSource = (plan: ProgramPlan, profile?: string): ProgramSource => {
  const { secrets, keyOf } = secretKeys();
  const all = declarations(plan, keyOf, profile);
  const head = [importsText(plan, secrets), secrets.length > 0 ? secretsText(secrets) : ""];
  return { text: `${[...head, ...all].filter(Boolean).join("\n\n")}\n`, secrets };
};
