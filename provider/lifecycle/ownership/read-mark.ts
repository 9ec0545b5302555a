import type { Mark } from "./mark.js";
import { checksumOf, madeAt } from "./serial.js";

const pattern =
  /\s?\[pulumi: ([^\]]{0,250}) #([0-9a-f]{8})-([0-9a-f]{12})(?:-([0-9a-z]{11})([0-9a-z]{4}))?\]$/;

/** A description as the service holds it: what the program or a person wrote, and the mark. */
export const readMark = (
  description: unknown,
): { readonly description?: string; readonly mark?: Mark } => {
  if (typeof description !== "string") return {};
  const found = pattern.exec(description);
  const text = found ? description.slice(0, found.index) : description;
  const [, label, stack, resource, serial, checksum] = found ?? [];
  const mark =
    label !== undefined && stack && resource
      ? { label, stack, resource, ...(serial && checksum ? { serial, checksum } : {}) }
      : undefined;
  return { ...(text ? { description: text } : {}), ...(mark ? { mark } : {}) };
};

const withoutZone = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/;

/**
 * A time that the service tells of an object, in milliseconds since 1970; NaN where it tells none. Its
 * times are GMT (public reference), also where it leaves the zone out.
 */
export const objectTime = (value: unknown): number =>
  typeof value === "string"
    ? Date.parse(withoutZone.test(value) ? `${value}Z` : value)
    : Number.NaN;

/** Whether two marks stand for the same resource of the same state. */
export const isSameResource = (a: Mark, b: Mark): boolean =>
  a.stack === b.stack && a.resource === b.resource;

/** Whether two marks name the same project, stack and logical name, of two different states. */
export const isNamesake = (a: Mark, b: Mark): boolean => a.label === b.label && a.stack !== b.stack;

/** A POST may wait for hours for its turn on a slow plan; whoever copies later than this is found out. */
const longestWaitMs = 6 * 3600000;

/**
 * Whether an object is a copy of one of ours, as far as it tells itself: its mark was made for
 * another name, or long before the object. A copy under the same name made at once cannot be told
 * by itself; the state and the serial of the original tell it.
 */
export const isCopy = (mark: Mark, name: unknown, created: unknown): boolean => {
  if (!mark.serial) return false;
  // A name that is none tells nothing.
  const isName = typeof name === "string" || typeof name === "number";
  if (isName && mark.checksum !== checksumOf(mark.serial, name)) return true;
  return objectTime(created) > madeAt(mark.serial) + longestWaitMs;
};

/** Whether a description leaves room for the mark, where there is one. */
export const hasRoom = (
  { mark, room }: { readonly mark: Mark | undefined; readonly room: number },
  description: string | undefined,
): boolean => mark !== undefined && (description ? description.length + 1 : 0) <= room;
