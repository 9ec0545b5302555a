/** How much of a name is enough. */
const mostOfName = 200;

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const whole = new Intl.NumberFormat("en");

/** A time in words; anything else unchanged. @param {Intl.DateTimeFormat} format @param {string | number} time */
const timeText = (format, time) => {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : format.format(date);
};

/** The time, such as `09:30:05`, in this machine's time zone. @param {string | number} time */
export const clockTime = (time) => timeText(clock, time);

/** Date and time in this machine's format. @param {string | number} time */
export const dayTime = (time) => timeText(dayAndClock, time);

/** A formatted number, such as `12,345`. @param {number} count */
export const countText = (count) => whole.format(count);

/** A count with its noun, such as `1 call` or `2 calls`. @param {number} count @param {string} noun */
export const counted = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

/** @param {unknown} value @returns {value is Readonly<Record<string, unknown>>} */
export const isRecord = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The records in a list; none if it is no list. @param {unknown} value */
export const recordsIn = (value) => (Array.isArray(value) ? value.filter(isRecord) : []);

/** Parses JSON; undefined if the text is not JSON. @param {string} text @returns {unknown} */
export const parsedJson = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** @param {string} text @param {RegExp} signs */
const escaped = (text, signs) =>
  text.replace(signs, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Text in which characters that change the writing direction are escaped. @param {string} text */
export const withoutBidi = (text) => escaped(text, /[\u202a-\u202e\u2066-\u2069]/g);

/** Human-readable JSON. @param {unknown} value */
export const inertJson = (value) =>
  escaped(JSON.stringify(value, null, 2), /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g);

/** A name or an address as it is shown: shortened if it is too long, without splitting a character. @param {string} text */
export const shortText = (text) => {
  const beginning = text.slice(0, mostOfName).replace(/[\ud800-\udbff]$/, "");
  return withoutBidi(text.length <= mostOfName ? text : `${beginning}…`);
};

/** Whether the words contain the search text. @param {string} sought @param {string[]} words */
export const isFound = (sought, ...words) =>
  words.join(" ").toLowerCase().includes(sought.trim().toLowerCase());

/** The reason for a refusal: `error` from the control interface, or `code`, `developerMessage`, and `details` from the service. @param {unknown} body @param {number} status */
export const refusalText = (body, status) => {
  if (!isRecord(body)) return `The emulator returned status ${status}.`;
  if (typeof body.error === "string") return body.error;
  const rest = recordsIn(body.details)
    .map(({ key, value }) => `${key}: ${value}`)
    .filter((text) => !String(body.developerMessage).startsWith(text));
  const code = body.code === undefined ? "" : ` (${body.code})`;
  return [`${status}${code}: ${body.developerMessage ?? "refused"}`, ...rest].join("\n");
};
