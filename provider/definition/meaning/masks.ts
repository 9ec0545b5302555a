const words =
  /^\W*((value )?(is )?(hidden|secret|redacted|masked|filtered|protected|private|encrypted|obfuscated|sensitive|confidential|suppressed|removed|omitted|not (shown|displayed|disclosed|available))( value)?|string)\W*$/i;

/** Whether a text can be what a service shows in place of a secret. */
export const looksMasked = (text: string): boolean =>
  /[*•●]{3}/.test(text) ||
  /^\s*[*•●.#-][*•●.#\s-]*$/.test(text) ||
  (/^[*•●xX.#\s-]+$/.test(text) && /x.*x.*x/i.test(text)) ||
  words.test(text);

/**
 * Whether a text of which nobody knows that it is a secret surely is a mask: a row of asterisks or
 * dots, with a few characters of the value at most.
 */
export const isSurelyMask = (text: string): boolean =>
  /^[^\s*•●]{0,4}[*•●]{3,}[^\s*•●]{0,4}$/.test(text);
