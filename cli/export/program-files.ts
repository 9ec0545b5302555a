import { referencesIn } from "../../provider/definition/fields.js";
import { naturalKey } from "../../provider/definition/kinds.js";
import { ownCommand, packageName, packageVersion } from "../../provider/kernel/package.js";
import { yamlText } from "../../provider/kernel/text.js";
import { resources } from "../../provider/resources/index.js";
import { type Settings, settingTable } from "../../provider/service/settings.js";
import type { ObjectInputs } from "../inventory/object-inputs.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import { codeSpan, markdownTable, withCount } from "../terminal/columns.js";
import type { PlannedResource, ProgramPlan } from "./program-plan.js";
import {
  declarationText,
  fieldMembers,
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

/** The content of a project's README. */
interface ReadmeContent {
  readonly names: ProjectNames;
  readonly baseUrl: string;
  readonly plan: ProgramPlan;
  readonly secrets: readonly ProgramSecret[];
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
}

/** An object by its natural key: `channel "custom.kiosk"`. */
export const objectLabel = ({ definition, fields, id }: ObjectInputs): string => {
  const name = fields[naturalKey(definition)];
  return `${definition.noun} ${typeof name === "string" ? quotedText(name) : id}`;
};

const label = ({ object }: PlannedResource): string => codeSpan(objectLabel(object));

/** A section with a table after its paragraphs; nothing without rows. */
const tableSection = (
  title: string,
  paragraphs: readonly string[],
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] =>
  rows.length === 0 ? [] : [`## ${title}`, ...paragraphs, markdownTable(columns, rows).join("\n")];

const isManaged = ({ object }: PlannedResource): boolean => object.mark !== undefined;

const importLine = "pulumi import --file import.json --generate-code=false --protect=false --yes";

const steps = ({ names: { stack }, secrets, plan }: ReadmeContent): readonly string[] => [
  "```sh",
  // This package first if the registry does not have it.
  ...[packedPackage()?.command ?? []].flat(),
  "npm install",
  `pulumi stack init ${stack}`,
  "# Pulumi asks for each value:",
  "pulumi config set --secret conversation:clientSecret",
  ...(secrets.length > 0 ? ["# For each secret in the table below:"] : []),
  ...secrets.slice(0, 1).map(({ key }) => `pulumi config set --secret ${key}`),
  ...(plan.declared.every(isManaged) ? [] : [importLine]),
  "pulumi preview",
  "```",
];

const secretRows = ({ secrets }: ReadmeContent): readonly string[] =>
  tableSection(
    "Secrets to set",
    [
      "These files contain no secrets. The first value that you set is assumed to match the service, so a run " +
        "writes it only when its object changes. Set each secret with `pulumi config set --secret <key>`.",
    ],
    ["Key", "Object", "Member"],
    secrets.map(({ key, resource, path }) => [codeSpan(key), label(resource), codeSpan(path)]),
  );

const undeclaredRows = ({ plan: { declared } }: ReadmeContent): readonly string[] =>
  tableSection(
    "Members that the program does not declare",
    [
      "These members exist only in the service, whose description does not have them. Any of them may be a secret, so no file " +
        "contains their values. The service is documented to refuse them, so no run sends them: a member may disappear when a " +
        "run changes its object.",
    ],
    ["Object", "Member"],
    declared.flatMap((resource) =>
      (resource.object.undeclared ?? []).map((path) => [label(resource), codeSpan(path)]),
    ),
  );

const managedRows = ({ plan: { declared }, names }: ReadmeContent): readonly string[] =>
  tableSection(
    "Managed by a stack",
    [
      "These objects already have a program and are not in `import.json`, because only one stack can manage an object. You " +
        "can read and compare them as they are. To move one here, move its resource; `pulumi stack --show-urns` shows the URN:",
      `\`\`\`sh\npulumi state move --source <their stack> --dest ${names.stack} <urn>\n\`\`\``,
      "Then run `pulumi up` here, which writes the new mark, and remove the resource from its old program. If the stack no longer exists, " +
        `release the object with ${codeSpan(ownCommand("orphans --release --id <id>"))}, and then export again.`,
    ],
    ["Object", "Stack", "Resource"],
    declared.filter(isManaged).map((resource) => {
      const [stack = "", name = ""] = resource.object.mark?.label.split(" ") ?? [];
      return [label(resource), codeSpan(stack), codeSpan(name)];
    }),
  );

const nothingDeclared = ({ plan: { skipped } }: ReadmeContent): readonly string[] => {
  const why = skipped.some(({ object }) => object.mark)
    ? "Objects that a stack manages already have a program. To declare them too, export with `--managed`."
    : "";
  return ["## Next steps", `There is nothing to import. ${why}`.trim()];
};

const skippedRows = ({ plan: { skipped, lookedUp } }: ReadmeContent): readonly string[] => [
  ...tableSection(
    "Looked up, not managed",
    [],
    ["Object", "ID"],
    lookedUp.map((resource) => [label(resource), codeSpan(resource.object.id)]),
  ),
  ...tableSection(
    "Omitted",
    [],
    ["Object", "ID", "Why"],
    skipped.map(({ object, reason }) => [
      codeSpan(objectLabel(object)),
      codeSpan(object.id),
      codeSpan(reason),
    ]),
  ),
];

const nextSteps = (content: ReadmeContent): readonly string[] => [
  "## Next steps",
  steps(content).join("\n"),
  content.plan.declared.every(isManaged)
    ? "There is nothing to import, because stacks already manage all objects. Until you move them here as shown below, the preview " +
      "shows them as new and `up` refuses to create them."
    : "The preview shows no changes. The import makes no calls to the service; it only records which object belongs " +
      "to which resource. The first `pulumi up` writes the dependencies into the state, so run it before you delete " +
      "anything.",
];

/** The page that says what to do next. */
export const projectReadme = (content: ReadmeContent): string => {
  const { names, baseUrl, plan, notes } = content;
  const blocks = [
    `# ${names.project}`,
    `${withCount(plan.declared.length, "object")} from the conversation account at ${baseUrl}, as a Pulumi program.`,
    ...(plan.declared.length === 0 ? nothingDeclared(content) : nextSteps(content)),
    ...secretRows(content),
    ...undeclaredRows(content),
    ...managedRows(content),
    ...skippedRows(content),
    ...(notes.length === 0 ? [] : ["## Not read"]),
    ...notes.map((note) => `- ${codeSpan(note, 1_000)}`),
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
    ...fieldMembers(definition.fields, given, {
      reference: (to, id) => plan.find(to.kind, id)?.variable ?? quotedText(id),
      secret: (path) => `secrets.${keyOf(resource, path)}`,
    }),
    ...(profile ? [`profile: ${quotedText(profile)}`] : []),
  ];
};

/** Variables that are referred to. */
const usedVariables = (plan: ProgramPlan): ReadonlySet<string> =>
  new Set(
    plan.declared.flatMap((resource) => targetsOf(resource, plan).map(({ variable }) => variable)),
  );

const targetsOf = ({ object }: PlannedResource, plan: ProgramPlan): readonly PlannedResource[] =>
  referencesIn(object.definition.fields, object.fields).flatMap(({ to, id }) =>
    typeof id === "string" ? (plan.find(to.kind, id) ?? []) : [],
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
