import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliProject } from "./cli-project.js";

const blocksOf = (guide: string, language: string): readonly string[] => {
  const page = readFileSync(join(__dirname, "..", "..", "docs", "guides", `${guide}.md`), "utf8");
  const blocks = page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...blocks].flatMap(([, name, text = ""]) => (name === language ? [text] : []));
};

/** The commands of a guide, in its order: each line of its `sh` blocks. */
export const guideCommands = (guide: string): readonly string[] =>
  blocksOf(guide, "sh").flatMap((block) =>
    block.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#")),
  );

/** The programs of a guide in a language, block by block. */
export const guidePrograms = (guide: string, language = "ts"): readonly string[] =>
  blocksOf(guide, language);

/** Runs a line of a guide as a reader would; gives its exit code and what it printed. */
export const follow = async (project: CliProject, line: string) => {
  const [program = "", ...words] = line.replace(/^npx /, "").split(/\s+/);
  const args = words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  if (program === "pulumi") return project.pulumi(args);
  if (program !== "pulumi-conversation") throw new Error(`no program for: ${line}`);
  const { code, output, errors } = await project.tool(args);
  return { code, output: output + errors };
};
