import { isObject } from "../definition/json.js";
import { parseJson } from "./json.js";

const hidden = "[secret]";
const longestText = 300;
/** A shorter beginning of a secret at a cut is not worth hiding: it says nothing. */
const shortestCut = 4;

const jsonTexts = (text: string): string[] => {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return textsIn(parseJson(text));
  } catch {
    return [];
  }
};

/** Every text inside a value, and inside JSON that a text holds. */
export const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value === "" ? [] : [value, ...jsonTexts(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
};

/** A secret as it may come back: as it is, in an address, inside JSON. */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret.toWellFormed()),
  new URLSearchParams([["", secret]]).toString().slice(1),
  JSON.stringify(secret).slice(1, -1),
];

/** A service that cuts its messages may leave the beginning of a secret at their end. */
const withoutCut = (text: string, secret: string): string => {
  const end = text.replace(/[\s."'…]+$/u, "");
  for (let length = Math.min(secret.length - 1, end.length); length >= shortestCut; length--) {
    if (end.endsWith(secret.slice(0, length))) return `${end.slice(0, -length)}${hidden}`;
  }
  return text;
};

/** Replaces every secret in a text, whole or cut off at the end. */
export const redact = (text: string, secrets: readonly string[]): string => {
  const all = [...new Set(secrets.filter((secret) => secret !== "").flatMap(spellings))];
  // The longest first, so that a secret inside another one leaves no rest of it.
  all.sort((one, other) => other.length - one.length);
  const replaced = all.reduce((rest, secret) => rest.replaceAll(secret, hidden), text);
  return all.reduce(withoutCut, replaced);
};

/** Text of the service as a message may show it: no secrets, no control characters, at most 300 characters. */
export const shownText = (text: string, secrets: readonly string[]): string => {
  const clean = redact(text, secrets)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
  const characters = [...clean];
  return characters.length <= longestText ? clean : `${characters.slice(0, longestText).join("")}…`;
};
