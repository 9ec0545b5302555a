import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliProject } from "./cli-project.js";

interface GuideBlock {
  readonly language: string;
  readonly text: string;
}

export const guideBlocks = (guide: string): readonly GuideBlock[] => {
  const folder = join(__dirname, "..", "..", "docs", "guides");
  const page = readFileSync(join(folder, `${guide}.md`), "utf8");
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
};

export const shellLines = ({ text }: GuideBlock): readonly string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));

/** The commands of a guide, in its order: each line of its `sh` blocks. */
export const guideCommands = (guide: string): readonly string[] =>
  guideBlocks(guide)
    .filter(({ language }) => language === "sh")
    .flatMap(shellLines);

export const guidePrograms = (guide: string, language = "ts"): readonly string[] =>
  guideBlocks(guide).flatMap((block) => (block.language === language ? [block.text] : []));

/** Runs a line of a guide as a reader would; gives its exit code and what it printed. */
export const follow = async (project: CliProject, line: string) => {
  const [program = "", ...words] = line.replace(/^npx /, "").split(/\s+/);
  const args = words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  if (program === "pulumi") return project.pulumi(args);
  if (program !== "pulumi-conversation") throw new Error(`no program for: ${line}`);
  const { code, output, errors } = await project.tool(args);
  return { code, output: output + errors };
};
