import { naturalKey } from "../../provider/definition/references.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import { packedPackage } from "../packed-package.js";
import { codeSpan, markdownTable } from "../terminal/markdown.js";
import type { PlannedResource, ProgramPlan } from "./program-plan.js";
import type { PossibleSecret, ProgramSecret } from "./program-secrets.js";
import type { ProjectNames } from "./project-files.js";
import { quotedText } from "./source-text.js";

/** What the page of a project tells. */
export interface ReadmeContent {
  readonly names: ProjectNames;
  readonly baseUrl: string;
  readonly plan: ProgramPlan;
  readonly secrets: readonly ProgramSecret[];
  readonly possible: readonly PossibleSecret[];
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
}

/** An object as people know it: `channel "custom.kiosk"`. */
export const objectLabel = ({ definition, fields, id }: ObjectInputs): string => {
  const name = fields[naturalKey(definition)];
  return `${definition.noun} ${typeof name === "string" ? quotedText(name) : id}`;
};

const label = ({ object }: PlannedResource): string => codeSpan(objectLabel(object));

const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  markdownTable(heading, rows).join("\n");

const section = (title: string, ...blocks: readonly string[]): readonly string[] => [
  `## ${title}`,
  ...blocks,
];

const isManaged = ({ object }: PlannedResource): boolean => object.mark !== undefined;

const importLine = "pulumi import --file import.json --generate-code=false --protect=false --yes";

/** The packages, and first this one where the registry does not have it. */
const packageCommands = (): readonly string[] => {
  const packed = packedPackage();
  return [...(packed ? [packed.command] : []), "npm install"];
};

const steps = ({ names: { stack }, secrets, plan }: ReadmeContent): readonly string[] => [
  "```sh",
  ...packageCommands(),
  `pulumi stack init ${stack}`,
  "# Pulumi asks for the values:",
  "pulumi config set --secret conversation:clientSecret",
  ...(secrets.length > 0 ? ["# Each secret of the table below:"] : []),
  ...secrets.slice(0, 1).map(({ key }) => `pulumi config set --secret ${key}`),
  ...(plan.declared.every(isManaged) ? [] : [importLine]),
  "pulumi preview",
  "```",
];

const secretRows = (content: ReadmeContent): readonly string[] => {
  if (content.secrets.length === 0) return [];
  const rows = content.secrets.map(({ key, resource, path }) => [
    codeSpan(key),
    label(resource),
    codeSpan(path),
  ]);
  return section(
    "Secrets to set",
    "No secret is in these files. The first value that you set is taken to be the one that the service has: it is " +
      "written only when something of its object changes. Set each one with `pulumi config set --secret <key>`.",
    table(["Key", "Object", "Member"], rows),
  );
};

const possibleRows = ({ possible }: ReadmeContent): readonly string[] =>
  possible.length === 0
    ? []
    : section(
        "Secrets that may be there",
        "The service leaves secrets out, so nobody can see whether these are set. What the program does not declare " +
          "is not touched; a change of such an object is refused until its secret is declared, or " +
          "`conversation:put` says that this tenant keeps what a change does not name.",
        table(
          ["Object", "Member"],
          possible.map(({ resource, path }) => [label(resource), codeSpan(path)]),
        ),
      );

const undeclaredRows = ({ plan: { declared } }: ReadmeContent): readonly string[] => {
  const rows = declared.flatMap((resource) =>
    (resource.object.undeclared ?? []).map((path) => [label(resource), codeSpan(path)]),
  );
  if (rows.length === 0) return [];
  return section(
    "Members that the program does not declare",
    "Only the service knows them, so any of them may be a secret, and no file holds their values. They stay as they " +
      "are when their object is changed; an account that is made anew from this program lacks them. To declare one " +
      "that is no item of a list, write it into `extra` of its resource: a secret by `config.requireSecret`.",
    table(["Object", "Member"], rows),
  );
};

const managedRows = ({ plan: { declared }, names }: ReadmeContent): readonly string[] => {
  const managed = declared.filter(isManaged);
  if (managed.length === 0) return [];
  const rows = managed.map((resource) => {
    const [stack = "", name = ""] = resource.object.mark?.label.split(" ") ?? [];
    return [label(resource), codeSpan(stack), codeSpan(name)];
  });
  return section(
    "Managed by a stack",
    "These have a program already, and are not in `import.json`: an object is managed by one stack. To read or " +
      "compare, do nothing. To move one here, move it between the states; `pulumi stack --show-urns` names it:",
    ["```sh", `pulumi state move --source <their stack> --dest ${names.stack} <urn>`, "```"].join(
      "\n",
    ),
    "Then run `pulumi up` here, which writes the new mark, and remove it from its old program. Where the stack is no more, `pulumi-conversation orphans --release --id " +
      "<id>` frees the object; export again.",
    table(["Object", "Stack", "Resource"], rows),
  );
};

const nothingDeclared = ({ plan: { skipped } }: ReadmeContent): readonly string[] => {
  const why = skipped.some(({ object }) => object.mark)
    ? "What a stack manages has a program already; `--managed` declares it, too."
    : "";
  return section("Next steps", `There is nothing to import. ${why}`.trim());
};

const skippedRows = ({ plan: { skipped, lookedUp } }: ReadmeContent): readonly string[] => [
  ...(lookedUp.length === 0
    ? []
    : section(
        "Looked up, not managed",
        table(
          ["Object", "Id"],
          lookedUp.map((resource) => [label(resource), codeSpan(resource.object.id)]),
        ),
      )),
  ...(skipped.length === 0
    ? []
    : section(
        "Left out",
        table(
          ["Object", "Id", "Why"],
          skipped.map(({ object, reason }) => [
            codeSpan(objectLabel(object)),
            codeSpan(object.id),
            codeSpan(reason),
          ]),
        ),
      )),
];

const nextSteps = (content: ReadmeContent): readonly string[] =>
  section(
    "Next steps",
    steps(content).join("\n"),
    content.plan.declared.every(isManaged)
      ? "There is nothing to import: stacks manage all of it. The preview would make the objects anew, and an `up` is " +
          "refused, until they have been moved here; see below."
      : "The preview says that nothing changes. The import makes no call to the service; it only tells Pulumi which " +
          "object stands for which resource. The first `pulumi up` writes the dependencies into the state: run it " +
          "before anything is deleted.",
  );

/** The page that tells what to do next. */
export const projectReadme = (content: ReadmeContent): string => {
  const { names, baseUrl, plan, notes } = content;
  const blocks = [
    `# ${names.project}`,
    `${plan.declared.length} objects of the conversation account at ${baseUrl}, as a Pulumi program.`,
    ...(plan.declared.length === 0 ? nothingDeclared(content) : nextSteps(content)),
    ...secretRows(content),
    ...possibleRows(content),
    ...undeclaredRows(content),
    ...managedRows(content),
    ...skippedRows(content),
    ...(notes.length === 0
      ? []
      : section("Not read", ...notes.map((note) => `- ${codeSpan(note, 1_000)}`))),
  ];
  return `${blocks.join("\n\n")}\n`;
};
