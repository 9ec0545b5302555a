import { type SettingKey, settingTable } from "../../provider/service/settings/setting-table.js";

/** A key of a stack's configuration that is in our namespace. */
export interface OwnKey {
  /** `conversation:`, or `conversation:staging.` in a profile. */
  readonly start: string;
  /** What follows, such as `baseUrl`. */
  readonly last: string;
}

const namespace = "conversation:";
const mostTypos = 2;

const settingKeys: readonly string[] = Object.keys(settingTable);

const isSettingKey = (text: string): text is SettingKey => settingKeys.includes(text);

/** Undefined for keys of other namespaces. */
export const ownKey = (key: string): OwnKey | undefined => {
  if (!key.startsWith(namespace)) return undefined;
  const at = Math.max(namespace.length, key.lastIndexOf(".") + 1);
  return { start: key.slice(0, at), last: key.slice(at) };
};

/** The setting that a full key such as `conversation:staging.baseUrl` stands for, if it is one. */
export const settingOf = (key: string): SettingKey | undefined => {
  const last = ownKey(key)?.last ?? "";
  return isSettingKey(last) ? last : undefined;
};

/** How many characters have to be put in, left out or exchanged to get from one text to the other. */
export const distance = (one: string, other: string): number => {
  let before = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, character] of [...one].entries()) {
    const next = [row + 1];
    for (const [column, wanted] of [...other].entries())
      next.push(
        Math.min(
          (before[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          (before[column] ?? 0) + (character === wanted ? 0 : 1),
        ),
      );
    before = next;
  }
  return before.at(-1) ?? 0;
};

/** The key that was surely meant by one that is none: case and at most two characters apart. */
export const meantKey = (key: string): string | undefined => {
  const own = ownKey(key);
  if (!own || isSettingKey(own.last)) return undefined;
  const near = settingKeys
    .map((known) => ({ known, typos: distance(own.last.toLowerCase(), known.toLowerCase()) }))
    .filter(({ typos, known }) => typos <= mostTypos && typos < known.length / 2)
    .sort((one, other) => one.typos - other.typos);
  return near[0] && `${own.start}${near[0].known}`;
};
