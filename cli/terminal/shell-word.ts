/** A text as one word of a shell, whatever is in it; without quotes where it needs none. */
export const shellWord = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
