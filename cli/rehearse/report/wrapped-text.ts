/** Columns of a terminal that everything has to fit. */
const columns = 80;

/**
 * A text in lines of at most 80 columns. A word that is longer stays whole, so that it can be copied.
 *
 * @param first what the first line begins with; the others are set in as far
 */
export const wrappedText = (text: string, first = ""): readonly string[] => {
  const rest = " ".repeat(first.length);
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = isEmpty ? line + word : `${line} ${word}`;
    if (!isEmpty && [...longer].length > columns) {
      lines.push(line);
      line = rest + word;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line];
};
