import type { Definition } from "../../provider/definition/define.js";
import { referencesIn } from "../../provider/definition/walk.js";
import { packageName } from "../../provider/kernel/package.js";
import { resources } from "../../provider/resources/index.js";
import { type Expression, fieldMembers, jsonExpression, type Member } from "./expression.js";
import type { PlannedResource, ProgramPlan } from "./program-plan.js";
import { type ProgramSecret, secretKeys } from "./program-secrets.js";
import { callMember, declarationText, importText, quotedText } from "./source-text.js";

export type Split = "by-kind" | "single";

export interface ProgramOptions {
  readonly split: Split;
  /** Name of the settings that every resource uses, where it is not the default one. */
  readonly profile?: string;
}

/** The source of a program, by file name. */
export interface ProgramSource {
  readonly files: ReadonlyMap<string, string>;
  readonly secrets: readonly ProgramSecret[];
}

/** One resource as source, and what it needs. */
interface Declaration {
  readonly resource: PlannedResource;
  readonly text: string;
  readonly usesSecrets: boolean;
}

const code = (text: string): Expression => ({ type: "code", text });

const membersOf = (
  resource: PlannedResource,
  plan: ProgramPlan,
  keyOf: (resource: PlannedResource, path: string) => string,
  profile: string | undefined,
): readonly Member[] => {
  const { definition, fields } = resource.object;
  const { rule } = definition;
  // The discriminator follows from the member that it names.
  const given = Object.fromEntries(
    Object.entries(fields).filter(
      ([name]) => !(rule && "exactlyOne" in rule && name === rule.discriminator),
    ),
  );
  return [
    ...fieldMembers(definition.fields, given, {
      reference: (to, id) => {
        const target = plan.find(to.kind, id);
        return target ? code(target.variable) : jsonExpression(id);
      },
      secret: (path) => code(`secrets.${keyOf(resource, path)}`),
    }),
    ...(profile ? [["profile", jsonExpression(profile)] as const] : []),
  ];
};

/** Variables that somebody refers to. */
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
  { split, profile }: ProgramOptions,
): readonly Declaration[] => {
  const used = usedVariables(plan);
  const start = ({ variable }: PlannedResource): string => {
    if (split === "by-kind") return `export const ${variable} = `;
    return used.has(variable) ? `const ${variable} = ` : "";
  };
  const lookUp = profile ? [`{ profile: ${quotedText(profile)} }`] : [];
  const lookedUp = plan.lookedUp.map((resource) => {
    const { object, logical } = resource;
    const args = [quotedText(logical), quotedText(object.id), ...lookUp];
    const text = declarationText(`${start(resource)}${object.definition.kind}.get`, args);
    return { resource, text, usesSecrets: false };
  });
  const declared = plan.declared.map((resource) => {
    const head = `${start(resource)}new ${resource.object.definition.kind}`;
    let usesSecrets = false;
    const usedKey: typeof keyOf = (...place) => {
      usesSecrets = true;
      return keyOf(...place);
    };
    const members = membersOf(resource, plan, usedKey, profile);
    const text = declarationText(head, [quotedText(resource.logical)], members);
    return { resource, text, usesSecrets };
  });
  return [...lookedUp, ...declared];
};

const plural = ({ noun }: Definition): string => `${noun}s`;
const fileOf = (definition: Definition): string => plural(definition).replaceAll(" ", "-");
const heading = (text: string): string => `// ${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** The configuration that a program needs; read before any resource is declared. */
const secretsText = (secrets: readonly ProgramSecret[], start: string): string => {
  const lines = secrets.map(({ key }) => callMember(key, "config.requireSecret", key));
  return [
    "const config = new pulumi.Config();",
    "",
    "// A missing secret ends a run before anything is read or written.",
    `${start}const secrets = {`,
    ...lines,
    "};",
  ].join("\n");
};

const kindsOf = (list: readonly Declaration[]): readonly string[] => [
  ...new Set(list.map(({ resource }) => resource.object.definition.kind)),
];

const sdkImport = 'import * as pulumi from "@pulumi/pulumi";';

const text = (blocks: readonly string[]): string => `${blocks.filter(Boolean).join("\n\n")}\n`;

const singleFile = (
  all: readonly Declaration[],
  secrets: readonly ProgramSecret[],
): ReadonlyMap<string, string> => {
  const imports = [
    ...(secrets.length > 0 ? [sdkImport] : []),
    ...(all.length > 0 ? [importText(kindsOf(all), packageName)] : []),
  ];
  const sections = resources.flatMap((definition) => {
    const own = all.filter(({ resource }) => resource.object.definition === definition);
    const [first, ...others] = own.map((each) => each.text);
    return first === undefined ? [] : [`${heading(plural(definition))}\n${first}`, ...others];
  });
  const blocks = [
    imports.join("\n"),
    secrets.length > 0 ? secretsText(secrets, "") : "",
    ...sections,
  ];
  return new Map([["index.ts", text(blocks)]]);
};

const kindFile = (
  definition: Definition,
  own: readonly Declaration[],
  plan: ProgramPlan,
): string => {
  const targets = own.flatMap(({ resource }) =>
    plan.declared.includes(resource) ? targetsOf(resource, plan) : [],
  );
  const imports = resources
    .filter((kind) => kind !== definition)
    .flatMap((kind) => {
      const names = targets
        .filter(({ object }) => object.definition === kind)
        .map(({ variable }) => variable);
      return names.length > 0 ? [importText([...new Set(names)], `./${fileOf(kind)}`)] : [];
    });
  const head = [
    importText([definition.kind], packageName),
    ...imports,
    ...(own.some(({ usesSecrets }) => usesSecrets) ? [importText(["secrets"], "./secrets")] : []),
  ];
  return text([head.join("\n"), ...own.map((each) => each.text)]);
};

const filesByKind = (
  all: readonly Declaration[],
  secrets: readonly ProgramSecret[],
  plan: ProgramPlan,
): ReadonlyMap<string, string> => {
  const kinds = resources.filter((definition) =>
    all.some(({ resource }) => resource.object.definition === definition),
  );
  const parts = [...(secrets.length > 0 ? ["secrets"] : []), ...kinds.map(fileOf)];
  const index = parts.map((part) => `import "./${part}";`).join("\n");
  return new Map([
    ["index.ts", `${index}\n`],
    ...(secrets.length > 0
      ? [["secrets.ts", text([sdkImport, secretsText(secrets, "export ")])] as const]
      : []),
    ...kinds.map((definition) => {
      const own = all.filter(({ resource }) => resource.object.definition === definition);
      return [`${fileOf(definition)}.ts`, kindFile(definition, own, plan)] as const;
    }),
  ]);
};

/** Writes the source of a program: formatted, typed, references as variables, secrets from the configuration. */
export const programSource = (plan: ProgramPlan, options: ProgramOptions): ProgramSource => {
  const { secrets, keyOf } = secretKeys();
  const all = declarations(plan, keyOf, options);
  const files =
    options.split === "single" ? singleFile(all, secrets) : filesByKind(all, secrets, plan);
  return { files, secrets };
};
