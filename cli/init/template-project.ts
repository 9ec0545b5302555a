import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../provider/kernel/package.js";
import { yamlText } from "../../provider/kernel/text.js";
import type { ProjectFile } from "../new-folder.js";

export const pipelines = ["github", "gitlab", "none"] as const;

export type Pipeline = (typeof pipelines)[number];

/** The choices that the template leaves open. */
export interface ProjectChoices {
  readonly name: string;
  readonly description: string;
  readonly pipeline: Pipeline;
  /** The version of this package in package.json. Default: that of the template. */
  readonly dependency: string | undefined;
}

/** Which pipeline a file belongs to; undefined if it is not a pipeline's own file. */
export const pipelineOf = (path: string): Pipeline | undefined => {
  if (path.startsWith(".github/")) return "github";
  return path === ".gitlab-ci.yml" ? "gitlab" : undefined;
};

const belongs = (path: string, pipeline: Pipeline): boolean =>
  path.startsWith("ci/") ? pipeline !== "none" : [undefined, pipeline].includes(pipelineOf(path));

/** npm leaves a `.gitignore` out of packages, so the template's has no dot. */
const pathOf = (path: string): string => (path === "gitignore" ? ".gitignore" : path);

/** Removes the part that only `pulumi new` reads. */
const withoutQuestions = (text: string): string => text.replace(/^template:\n(?: .*\n)+/m, "");

const textOf = (path: string, text: string, choices: ProjectChoices): string => {
  const { name, description, dependency } = choices;
  const quoted = JSON.stringify(description);
  const filled = text
    .replaceAll(/^name: \$\{PROJECT\}/gm, `name: ${yamlText(name)}`)
    .replaceAll("${PROJECT}", name)
    .replaceAll(/^description: \$\{DESCRIPTION\}/gm, `description: ${quoted}`)
    .replaceAll('"${DESCRIPTION}"', quoted)
    .replaceAll("${DESCRIPTION}", description);
  if (path === "package.json" && dependency !== undefined)
    return filled.replace(/("pulumi-conversation": )"[^"]*"/, `$1${JSON.stringify(dependency)}`);
  return path === "Pulumi.yaml" ? withoutQuestions(filled) : filled;
};

/** The files of a new project, from the template that `pulumi new` uses, too. */
export const templateProject = (choices: ProjectChoices): readonly ProjectFile[] => {
  const folder = join(packageRoot(), "examples", "new-project");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => statSync(join(folder, path)).isFile())
    .filter((path) => !path.startsWith("node_modules/") && belongs(path, choices.pipeline))
    .sort()
    .map((path) => ({
      path: pathOf(path),
      text: textOf(path, readFileSync(join(folder, path), "utf8"), choices),
      executable: path.endsWith(".sh"),
    }));
};
