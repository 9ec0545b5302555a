import { blocksIn, pages, readPage } from "./pages.js";

/** A line that a page tells its reader to run. */
export interface PageCommand {
  readonly page: string;
  /** From 1. */
  readonly line: number;
  /** Without its comment. */
  readonly text: string;
}

const shells = ["sh", "bash", "console", "shell"];

export const pageCommands: readonly PageCommand[] = blocksIn(...shells).flatMap(
  ({ page, line, code }) =>
    code
      .split("\n")
      .map((text, place) => ({
        page,
        line: line + place,
        text: text.replace(/(^|\s+)#\s.*$/, "").trim(),
      }))
      .filter(({ text }) => text !== ""),
);

/** What a page names between backticks within its text, where it begins with the name of a program. */
export const inlineCommands = (program: RegExp): readonly PageCommand[] =>
  pages.flatMap((page) =>
    readPage(page)
      .replace(/^ *```[\s\S]*?^ *```$/gm, (block) => block.replace(/[^\n]/g, ""))
      .split("\n")
      .flatMap((text, place) =>
        [...text.matchAll(/`([^`\n]+)`/g)]
          .map(([, code = ""]) => ({ page, line: place + 1, text: code }))
          .filter((command) => program.test(command.text)),
      ),
  );

/** The single programs of a line, with their words: what stands between `&&`, `|` and redirections. */
export const simpleCommands = (text: string): readonly (readonly string[])[] =>
  text
    .split(/\s+(?:&&|\|\|?|;)\s+/)
    .map((part) => part.replace(/\s+\d?>{1,2}\s*\S+/g, ""))
    .map((part) =>
      [...part.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) =>
        word.replace(/^(["'])(.*)\1$/, "$2"),
      ),
    );
