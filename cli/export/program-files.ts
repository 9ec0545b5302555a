import { referencesIn } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { packageName, packageVersion } from "../../provider/kernel/package.js";
import { yamlText } from "../../provider/kernel/text.js";
import { resources } from "../../provider/resources/index.js";
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

/** The names of the project that an export writes. */
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
export const objectLabel = ({ definition, fields, id }: ObjectInputs): string => {
  const name = fields[naturalKey(definition)];
  return `${definition.noun} ${typeof name === "string" ? quotedText(name) : id}`;
};

const importLine = "pulumi import --file import.json --generate-code=false --protect=false --yes";

const secretRows = (secrets: readonly ProgramSecret[]): readonly string[] =>
  markdownTable(
    ["Key", "Object", "Member"],
    secrets.map(({ key, resource: { object }, path }) =>
      [key, objectLabel(object), path].map((text) => codeSpan(text)),
    ),
  );

/** The page that says what to do next. */
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

/** The source of a program. */
export interface ProgramSource {
  readonly text: string;
  readonly secrets: readonly ProgramSecret[];
}

/** One resource as source. */
interface Declaration {
  readonly resource: PlannedResource;
  readonly text: string;
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

/** Variables that are referred to. */
const usedVariables = (plan: ProgramPlan): ReadonlySet<string> =>
  new Set(
    plan.declared
      .flatMap(({ object: { definition, fields } }) => referencesIn(definition.fields, fields))
      .flatMap(({ to, id }) => plan.find(to.kind, String(id))?.variable ?? []),
  );

const declarations = (
  plan: ProgramPlan,
  keyOf: (resource: PlannedResource, path: string) => string,
  profile: string | undefined,
): readonly Declaration[] => {
  const used = usedVariables(plan);
  const start = ({ variable }: PlannedResource): string =>
    used.has(variable) ? `const ${variable} = ` : "";
  const lookUp = profile ? [`{ profile: ${quotedText(profile)} }`] : [];
  const lookedUp = plan.lookedUp.map((resource) => {
    const { object, logical } = resource;
    const head = `${start(resource)}${object.definition.kind}.get`;
    const args = [quotedText(logical), quotedText(object.id), ...lookUp];
    return { resource, text: declarationText(head, args) };
  });
  const declared = plan.declared.map((resource) => {
    const head = `${start(resource)}new ${resource.object.definition.kind}`;
    const members = membersOf(resource, plan, keyOf, profile);
    return { resource, text: declarationText(head, [quotedText(resource.logical)], members) };
  });
  return [...lookedUp, ...declared];
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

const importsText = (all: readonly Declaration[], secrets: readonly ProgramSecret[]): string => {
  const kinds = new Set(all.map(({ resource }) => resource.object.definition.kind));
  return [
    ...(secrets.length > 0 ? ['import * as pulumi from "@pulumi/pulumi";'] : []),
    ...(all.length > 0
      ? [`import { ${[...kinds].toSorted().join(", ")} } from ${quotedText(packageName)};`]
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
  const sections = resources.flatMap((definition) => {
    const own = all.filter(({ resource }) => resource.object.definition === definition);
    const [first, ...others] = own.map((each) => each.text);
    const { noun } = definition;
    const heading = `// ${noun.charAt(0).toUpperCase()}${noun.slice(1)}s`;
    return first === undefined ? [] : [`${heading}\n${first}`, ...others];
  });
  const blocks = [
    importsText(all, secrets),
    secrets.length > 0 ? secretsText(secrets) : "",
    ...sections,
  ];
  return { text: `${blocks.filter(Boolean).join("\n\n")}\n`, secrets };
};
