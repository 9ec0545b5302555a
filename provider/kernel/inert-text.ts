/**
 * What moves a cursor, colours what follows, turns its direction round or cannot be seen: control
 * characters, line and paragraph separators, annotations, half characters, and what Unicode has
 * programs show as nothing, such as marks of direction and blanks without width. Joiners and the
 * selectors of forms stay, as emoji and scripts need them.
 */
const active =
  /(?!\u200c|\u200d|\p{Variation_Selector})[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

const escapes = (characters: string): string =>
  characters
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** Foreign text that can only be read: every active character stands as its escape, such as `\u001b`. */
export const inertText = (text: string): string => text.replaceAll(active, escapes);

const esc = "\u001b";

/** Colours and weights as this package writes them; never what hides or moves. */
const colours = new RegExp(`${esc}\\[(?:0|1|2|22|3\\d|39)m`, "g");

/** Lines of these forms are commands to the runners of GitHub, Azure and TeamCity, wherever they come from. */
const runnerCommands = /^[^\S\r\n\u2028\u2029]*::|##(?=\[|vso\[|teamcity\[)/gm;

/**
 * What a command prints, as a terminal and the log of a pipeline may take it: lines stay, and colours if
 * they are wanted. The escapes read the same inside JSON.
 */
export const inertOutput = (text: string, coloured: boolean): string => {
  const lines = (part: string): string =>
    part.replaceAll(active, (one) => (one === "\n" || one === "\t" ? one : escapes(one)));
  const safe = coloured
    ? text
        .split(colours)
        .map(lines)
        .flatMap((part, place) => [part, text.match(colours)?.[place] ?? ""])
        .join("")
    : lines(text);
  return safe.replaceAll(
    runnerCommands,
    (start) => `${start.slice(0, -1)}${escapes(start.slice(-1))}`,
  );
};
