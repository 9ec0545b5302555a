import { naturalKey } from "../../provider/definition/references.js";
import type { ObjectInputs } from "../account/object-inputs.js";
import type { PlannedResource, ProgramPlan } from "./program-plan.js";
import type { PossibleSecret, ProgramSecret } from "./program-secrets.js";
import { markdownTable, type ProjectNames } from "./project-files.js";

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
  return `${definition.noun} ${typeof name === "string" ? JSON.stringify(name) : id}`;
};

const label = ({ object }: PlannedResource): string => objectLabel(object);

const section = (title: string, ...blocks: readonly string[]): readonly string[] => [
  `## ${title}`,
  ...blocks,
];

const steps = ({ names: { stack }, secrets }: ReadmeContent): readonly string[] => [
  "```sh",
  "npm install",
  `pulumi stack init ${stack}`,
  "pulumi config set --secret conversation:clientSecret <secret>",
  ...(secrets.length > 0 ? ["# Each secret of the table below:"] : []),
  ...secrets.slice(0, 1).map(({ key }) => `pulumi config set --secret ${key} <value>`),
  "pulumi import --file import.json --generate-code=false --protect=false --yes",
  "pulumi preview",
  "```",
];

const secretRows = (content: ReadmeContent): readonly string[] => {
  if (content.secrets.length === 0) return [];
  const rows = content.secrets.map(({ key, resource, path }) => [
    `\`${key}\``,
    label(resource),
    `\`${path}\``,
  ]);
  return section(
    "Secrets to set",
    "No secret is in these files. The first value that you set is taken to be the one that the service has: it is " +
      "written only when something of its object changes. Set each one with `pulumi config set --secret <key>`.",
    markdownTable(["Key", "Object", "Member"], rows),
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
        markdownTable(
          ["Object", "Member"],
          possible.map(({ resource, path }) => [label(resource), `\`${path}\``]),
        ),
      );

const skippedRows = ({ plan: { skipped, lookedUp } }: ReadmeContent): readonly string[] => [
  ...(lookedUp.length === 0
    ? []
    : section(
        "Looked up, not managed",
        markdownTable(
          ["Object", "Id"],
          lookedUp.map((resource) => [label(resource), `\`${resource.object.id}\``]),
        ),
      )),
  ...(skipped.length === 0
    ? []
    : section(
        "Left out",
        markdownTable(
          ["Object", "Id", "Why"],
          skipped.map(({ object, reason }) => [objectLabel(object), `\`${object.id}\``, reason]),
        ),
      )),
];

/** The page that tells what to do next. */
export const projectReadme = (content: ReadmeContent): string => {
  const { names, baseUrl, plan, notes } = content;
  const blocks = [
    `# ${names.project}`,
    `${plan.declared.length} objects of the conversation account at ${baseUrl}, as a Pulumi program.`,
    ...section(
      "Next steps",
      ...[steps(content).join("\n")],
      "The preview says that nothing changes. The import makes no call to the service; it only tells Pulumi which object " +
        "stands for which resource. The first `pulumi up` writes the dependencies into the state: run it before " +
        "anything is deleted.",
    ),
    ...secretRows(content),
    ...possibleRows(content),
    ...skippedRows(content),
    ...(notes.length === 0 ? [] : section("Not read", ...notes.map((note) => `- ${note}`))),
  ];
  return `${blocks.join("\n\n")}\n`;
};
