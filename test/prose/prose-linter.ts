import dictionary from "dictionary-en";
import type { Paragraph } from "mdast";
import { toNlcst } from "mdast-util-to-nlcst";
import type { Root as Prose, Sentence } from "nlcst";
import { toString as textOf } from "nlcst-to-string";
import nspell from "nspell";
import { ParseEnglish } from "parse-english";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import retextIndefiniteArticle from "retext-indefinite-article";
import retextRepeatedWords from "retext-repeated-words";
import { unified } from "unified";
import { visit } from "unist-util-visit";
import { VFile } from "vfile";
import { properWords, unusedPhrases } from "./word-list.js";

/** The most words of a sentence. What stands between backticks counts as one. */
const mostWords = 30;

/** A text for a reader, and the place that it comes from. */
export interface ProseText {
  readonly file: string;
  /** Line of the file that the text begins in, from 1. */
  readonly line: number;
  readonly text: string;
}

const speller = nspell({ aff: Buffer.from(dictionary.aff), dic: Buffer.from(dictionary.dic) });
for (const word of properWords) speller.add(word);

const spelled = new Map<string, boolean>();

/** Whether a word is American English, or a word of the field. */
const isSpelled = (word: string): boolean => {
  const known = spelled.get(word);
  if (known !== undefined) return known;
  const is =
    /[\d_./@:#=]|[a-z][A-Z]|^[A-Z]+s?$/.test(word) ||
    speller.correct(word) ||
    (word.includes("-") && word.split("-").every((part) => part === "" || isSpelled(part)));
  spelled.set(word, is);
  return is;
};

/** The most words between two ends: the parser sees none after "id.", or before a sentence that begins with code. */
const wordsOf = ({ children }: Sentence): number => {
  let [words, most] = [0, 0];
  for (const [place, node] of children.entries()) {
    if (node.type === "WordNode" || node.type === "SourceNode") words += 1;
    most = Math.max(most, words);
    const [end, next] = [textOf(node), children[place + 2]];
    if (end === "·" || (/[.!?]$/.test(end) && next && /^[A-Z`]/.test(textOf(next)))) words = 0;
  }
  return most;
};

const checkLength = () => (prose: Prose, file: VFile) => {
  visit(prose, "SentenceNode", (sentence: Sentence) => {
    const words = wordsOf(sentence);
    if (words > mostWords)
      file.message(
        `A sentence of ${words} words: ${textOf(sentence).replaceAll(/\s+/g, " ").slice(0, 60)}…`,
        sentence,
      );
  });
};

const checkSpelling = () => (prose: Prose, file: VFile) => {
  visit(prose, "WordNode", (word) => {
    const text = textOf(word).replace(/['’]s?$|\.$/, "");
    if (!isSpelled(text)) file.message(`"${text}" is no American English word`, word);
  });
};

const checkPhrases = () => (prose: Prose, file: VFile) => {
  visit(prose, "SentenceNode", (sentence: Sentence) => {
    // Code is no sentence: its words are another's.
    const text = sentence.children
      .map((node) => (node.type === "SourceNode" ? "`code`" : textOf(node)))
      .join("")
      .replaceAll(/\s+/g, " ");
    // A code such as CANCELLED is a name.
    for (const { pattern, instead } of unusedPhrases)
      for (const [found] of text.matchAll(pattern))
        if (!/^[A-Z]+$/.test(found))
          file.message(`"${found.trim()}": write ${instead} instead`, sentence);
  });
};

const markdown = unified().use(remarkParse).use(remarkGfm).freeze();

const english = unified()
  .use(retextRepeatedWords)
  .use(retextIndefiniteArticle)
  .use(checkLength)
  .use(checkSpelling)
  .use(checkPhrases)
  .freeze();

/** What is wrong with the English of a text in Markdown: file, line and reason, one a line. */
export const lintProse = ({ file, line, text }: ProseText): readonly string[] => {
  const page = new VFile({ path: file, value: text });
  const tree = markdown.parse(page);
  visit(tree, "link", (link) => {
    // An address in angle brackets is no sentence.
    if (link.children.some((child) => child.type === "text" && child.value === link.url))
      Object.assign(link, { type: "inlineCode" });
  });
  // Block by block: the cells of a table are no one sentence.
  visit(tree, ["heading", "paragraph", "tableCell"], (block) => {
    english.runSync(
      toNlcst({ ...block, type: "paragraph" } as Paragraph, page, ParseEnglish),
      page,
    );
  });
  return page.messages.map(
    ({ line: within = 1, reason }) => `${file}:${line + within - 1} ${reason}`,
  );
};
