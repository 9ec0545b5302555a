import { isObject } from "../../provider/kernel/json.js";

import type { Fact, Members } from "../definition/vendor-facts.js";

/**
 * What is wrong with a value; nothing if it is right.
 *
 * @param at where it is in its body, such as `.roles[0].name`
 */
export type Check = (value: unknown, at: string) => readonly string[];

const rule =
  (isRight: (value: unknown) => boolean, text: string): Check =>
  (value, at) =>
    isRight(value) ? [] : [`${at} must be ${text}`];

const isWithin = (size: number, min: number, max: number): boolean => size >= min && size <= max;

export const text = (min: number, max: number): Check =>
  rule(
    (value) => typeof value === "string" && isWithin([...value].length, min, max),
    `a text of ${min} to ${max} characters`,
  );

export const id = text(36, 36);

export const number = (min: number, max: number, isWhole = false): Check =>
  rule(
    (value) =>
      typeof value === "number" &&
      isWithin(value, min, max) &&
      (!isWhole || Number.isInteger(value)),
    `a ${isWhole ? "whole " : ""}number from ${min} to ${max}`,
  );

export const flag = rule((value) => typeof value === "boolean", "true or false");

export const form = (pattern: RegExp, what: string): Check =>
  rule((value) => typeof value === "string" && pattern.test(value), what);

/** A tenant says its vendor's own word for `platform`. */
const neutral = (word: unknown): string =>
  String(word).replace(/^(?!custom_)\w+_(bot|agent)$/, "platform_$1");

export const words = (...all: readonly string[]): Check =>
  rule(
    (value) => typeof value === "string" && all.includes(neutral(value)),
    `one of ${all.join(", ")}`,
  );

export const list =
  (min: number, max: number, of: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value) || !isWithin(value.length, min, max))
      return [`${at} must be a list of ${min} to ${max} items`];
    return value.flatMap((item, place) => of(item, `${at}[${place}]`));
  };

/** These members and no others. After a name: `!`, required. */
export const object = (members: Readonly<Record<string, Check>>): Check => {
  const known = Object.entries(members).map(([name, check]) => {
    const isRequired = name.endsWith("!");
    return { name: isRequired ? name.slice(0, -1) : name, check, isRequired };
  });
  const names = new Set(known.map(({ name }) => name));
  return (value, at) => {
    if (!isObject(value)) return [`${at} must be an object`];
    const unknown = Object.keys(value).filter((name) => !names.has(name));
    return [
      ...unknown.map((name) => `${at}.${name} is unknown`),
      ...known.flatMap(({ name, check, isRequired }) => {
        if (value[name] !== undefined) return check(value[name], `${at}.${name}`);
        return isRequired ? [`${at}.${name} is missing`] : [];
      }),
    ];
  };
};

/** One of several forms; what is wrong is told of the form that fits best. */
export const oneOf =
  (...forms: readonly Check[]): Check =>
  (value, at) => {
    const found = forms.map((check) => check(value, at));
    return found.reduce((best, each) => (each.length < best.length ? each : best));
  };

/** The members of a body that the table of the six kinds describes. */
export const membersOf = (members: Members): Readonly<Record<string, Check>> =>
  Object.fromEntries(
    Object.entries(members).map(([name, fact]) => {
      const [, wire = "", mark = ""] = /^(\w+)([!+~]?)/.exec(name) ?? [];
      return [wire + (/[!+]/.test(mark) ? "!" : ""), checkOf(fact)];
    }),
  );

const checkOf = (fact: Fact): Check => {
  switch (fact.is) {
    case "text":
      // Its own minimum is for what tests make up.
      return text(Number.isFinite(fact.max) ? 1 : 0, fact.max);
    case "words":
      return words(...fact.words);
    case "number":
      return number(fact.min, fact.max, fact.whole);
    case "flag":
      return flag;
    case "id":
      return id;
    case "reference":
      return object({ "id!": id });
    case "boxed":
      return object({ [`${fact.in}!`]: checkOf(fact.of) });
    case "object":
      return object(membersOf(fact.members));
    case "list":
      return list(1, fact.most, checkOf(fact.of));
    case "pairs": {
      const [key, value] = fact.keys.names;
      const keys = fact.keys.words ? words(...fact.keys.words) : text(1, 255);
      return list(1, fact.most, object({ [`${key}!`]: keys, [`${value}!`]: checkOf(fact.of) }));
    }
  }
};
