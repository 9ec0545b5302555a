import ts from "typescript";

/** A text for a cell of a table: a bar would end the cell, and a line end the row. */
export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");

/** A link is the name that it leads to. */
const withoutLinks = (text: string): string => text.replaceAll(/\{@link ([^}\s]+)\s*\}/g, "`$1`");

/** What a doc comment says, without its tags. */
export const commentOf = (node: ts.Node): string =>
  withoutLinks(
    ts
      .getJSDocCommentsAndTags(node)
      .map((doc) => (ts.isJSDoc(doc) ? (ts.getTextOfJSDocComment(doc.comment) ?? "") : ""))
      .join(" "),
  ).trim();

/** What the tags of one name say, such as `example`. */
export const tagsOf = (node: ts.Node, tag: string): readonly string[] =>
  ts
    .getJSDocTags(node)
    .filter(({ tagName }) => tagName.text === tag)
    .map(({ comment }) => withoutLinks(ts.getTextOfJSDocComment(comment) ?? ""));
