import { element, fill, group, paragraph, withCode } from "./elements.mjs";
import { anchorOf, linkToSection } from "./links.mjs";

/** @import { Page } from "./page.mjs" */

/** @type {Map<string, Promise<string>>} */
const docs = new Map();

/** Loads a page of the documentation that comes with the emulator. Rejects if there is no such page. @param {string} name */
export const readDoc = (name) => {
  const known =
    docs.get(name) ??
    fetch(`/page/docs/${encodeURIComponent(name)}`).then((response) =>
      response.ok ? response.text() : Promise.reject(new Error(`There is no page docs/${name}.`)),
    );
  docs.set(name, known);
  return known;
};

/** A part of a page: its kind, and its lines; those of a paragraph are one. @typedef {{ readonly kind: "heading" | "text" | "item" | "row" | "code", readonly lines: string[] }} Block */

/** @param {string} line @returns {Block["kind"]} */
const kindOf = (line) => {
  if (/^#+ /.test(line)) return "heading";
  if (line.startsWith("|")) return "row";
  return line.startsWith("- ") ? "item" : "text";
};

/** The parts of a page, without comments and pictures. @param {string} text @returns {readonly Block[]} */
const blocksOf = (text) => {
  /** @type {Block[]} */
  const blocks = [];
  /** The part that the next line may belong to. @type {Block | undefined} */
  let open;
  for (const line of text.split("\n")) {
    const isFence = line.startsWith("```");
    if (open?.kind === "code") {
      if (isFence) open = undefined;
      else open.lines.push(line);
    } else if (line.trim() === "" || /^(<!--|!\[)/.test(line)) {
      open = undefined;
    } else {
      const kind = isFence ? "code" : kindOf(line);
      const isMore = kind === "text" && (open?.kind === "text" || open?.kind === "item");
      if (open && isMore) open.lines.push(`${open.lines.pop()} ${line.trim()}`);
      else if (open && open.kind === kind && kind !== "heading") open.lines.push(line);
      else {
        open = { kind, lines: isFence ? [] : [line] };
        blocks.push(open);
      }
    }
  }
  return blocks;
};

/** @param {Block} block */
const titleOf = ({ lines: [line = ""] }) => line.replace(/^#+ /, "");

/** The anchors of a page, one for each heading. @param {string} text */
export const anchorsOf = (text) =>
  blocksOf(text)
    .filter(({ kind }) => kind === "heading")
    .map((block) => anchorOf(titleOf(block)));

/** The paragraphs at the beginning of a section. @param {string} text @param {string} title */
export const sectionOf = (text, title) => {
  const blocks = blocksOf(text);
  const start = blocks.findIndex((block) => block.kind === "heading" && titleOf(block) === title);
  if (start < 0) return [];
  const rest = blocks.slice(start + 1);
  const end = rest.findIndex(({ kind }) => kind !== "text");
  return rest.slice(0, end < 0 ? undefined : end).flatMap(({ lines }) => lines);
};

/** A line of the documentation, with code formatting but without link targets. @param {string} text */
export const docLine = (text) =>
  withCode(text.replaceAll(/\[([^\][]*)\]\([^()]*\)/g, "$1").replaceAll("**", ""));

/** A link that opens a section of the documentation in a new tab. @param {string} page @param {string} section */
export const docLink = (page, section) =>
  element(
    "a",
    { href: linkToSection(page, section), target: "_blank", rel: "noopener" },
    `docs/${page}, ${section}`,
  );

/** @param {Block} block @returns {HTMLElement} */
const shownBlock = (block) => {
  const { kind, lines } = block;
  switch (kind) {
    case "heading": {
      const level = Math.min(4, lines[0]?.indexOf(" ") ?? 0);
      const title = titleOf(block);
      const attributes = { "data-anchor": anchorOf(title), tabindex: -1 };
      return element(level < 2 ? "h2" : level < 3 ? "h3" : "h4", attributes, ...docLine(title));
    }
    case "item":
      return element(
        "ul",
        {},
        ...lines.map((line) => element("li", {}, ...docLine(line.slice(2)))),
      );
    case "row": {
      const [head = [], , ...rows] = lines.map((line) =>
        line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => docLine(cell.replaceAll("\\|", "|").trim())),
      );
      const titles = head.map((cell) => element("th", { scope: "col" }, ...cell));
      const body = rows.map((row) =>
        element("tr", {}, ...row.map((cell) => element("td", {}, ...cell))),
      );
      const top = element("thead", {}, element("tr", {}, ...titles));
      return element("table", {}, top, element("tbody", {}, ...body));
    }
    case "code":
      return element("pre", { tabindex: 0 }, lines.join("\n"));
    default:
      return paragraph("", ...docLine(lines[0] ?? ""));
  }
};

/** A page of the documentation, at the section named in the URL. @param {Page} page */
export const docsView = (page) => {
  const sheet = group("sheet docs");
  let shown = "";
  const update = () => {
    const [name = "", anchor = ""] = page.rest;
    if (shown === page.rest.join("/")) return;
    shown = page.rest.join("/");
    const show = (/** @type {string} */ text) => {
      fill(sheet, ...blocksOf(text).map(shownBlock));
      const heading = [...sheet.querySelectorAll("[data-anchor]")].find(
        (each) => each instanceof HTMLElement && each.dataset.anchor === anchor,
      );
      heading?.scrollIntoView();
      if (heading instanceof HTMLElement) heading.focus({ preventScroll: true });
    };
    readDoc(name).then(show, ({ message }) => show(message));
  };
  return { element: sheet, update };
};
