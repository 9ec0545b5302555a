import { hash, randomInt } from "node:crypto";
import type { Definition } from "../../definition/define.js";
import { namingOf } from "../../definition/kinds.js";
import { ownerParts } from "../../kernel/owner.js";
import type { WireObject } from "../../service/lists.js";

/**
 * The owner mark, such as `[pulumi: shop/prod orders-bot #5f0c1a2b-9b2e77aa01cd-0tm9x2k4r7q1c2d]`:
 * a short suffix in an object's description that shows people and later runs which resource owns
 * the object. After `#`, the first part identifies the stack's `Ownership`, the second the
 * resource, and the third the object. Marks from release 0.1.0 have no third part.
 */
export interface Mark {
  /** Project, stack, and logical name, for people. */
  readonly label: string;
  readonly stack: string;
  readonly resource: string;
  /**
   * The object's serial, new with every POST. A copy made by a person has the original's serial.
   */
  readonly serial?: string;
  /** A checksum of the serial and the name. A copy with another name does not match its mark. */
  readonly checksum?: string;
}

/** The first `length` characters of a string's SHA-256 hash. */
export const digest = (text: string, length: number): string =>
  hash("sha256", text).slice(0, length);

const readable = (text: string): string => text.replace(/[^\w./@-]+/g, "_").slice(0, 80);

/** The part that all marks of a stack share, derived from the ID of its `Ownership`. */
export const stackMark = (ownership: string): string => digest(ownership, 8);

/** The start of the label in each of a stack's marks, such as `shop/prod`. */
export const stackLabel = (project: string, stack: string): string =>
  readable(`${project}/${stack}`);

/** The project and stack in a mark's label: `shop/prod` in `shop/prod kiosk`. */
export const stackOfLabel = (label: string): string => label.split(" ")[0] ?? label;

/** A resource's mark, without the parts that distinguish its objects. */
export const markOf = (kind: string, owner: string): Mark => {
  const { project, stack, ownership, name } = ownerParts(owner);
  return {
    label: `${stackLabel(project, stack)} ${readable(name)}`,
    stack: stackMark(ownership),
    resource: digest(`${kind} ${owner}`, 12),
  };
};

/** Characters of a serial, and of a checksum. */
const serialLength = 11;

const checksumLength = 4;

/** A number in the given count of digits and letters. */
const base36 = (value: number, length: number): string =>
  Math.floor(value).toString(36).padStart(length, "0").slice(-length);

/** A mark as text in a description. */
export const markText = ({ label, stack, resource, serial, checksum }: Mark): string =>
  `[pulumi: ${label} #${stack}-${resource}${serial && checksum ? `-${serial}${checksum}` : ""}]`;

/**
 * The number of characters that a resource's mark, which always has the same length, leaves for
 * other text in a field.
 *
 * @param max length of the field. Default: unlimited
 */
export const roomBeside = (mark: Mark, max = Number.POSITIVE_INFINITY): number => {
  const [serial, checksum] = [base36(0, serialLength), base36(0, checksumLength)];
  return max - markText({ ...mark, serial, checksum }).length;
};

/** The first part of a serial is a time, the rest is random. */
const stampLength = 7;

const randomLength = serialLength - stampLength;

/**
 * The serial for an object about to be created.
 *
 * @param now the service's time in milliseconds; kept to the second, so that a copy made much later
 * than its mark can be distinguished from the original. If undefined, no object counts as created
 * later
 */
export const newSerial = (now: number | undefined): string =>
  (now === undefined ? "z".repeat(stampLength) : base36(now / 1000, stampLength)) +
  base36(randomInt(36 ** randomLength), randomLength);

/** The time at which a serial was generated, in milliseconds of the service's time. */
const madeAt = (serial: string): number => Number.parseInt(serial.slice(0, stampLength), 36) * 1000;

/** A service may return a name in another form of the same text. */
const checksumOf = (serial: string, name: unknown): string => {
  const text = `${serial} ${String(name ?? "")
    .normalize("NFC")
    .trim()}`;
  return base36(Number.parseInt(digest(text, 12), 16) % 36 ** checksumLength, checksumLength);
};

/** A mark for the one object with this serial and name. */
export const markFor = (mark: Mark, serial: string, name: unknown): Mark => ({
  ...mark,
  serial,
  checksum: checksumOf(serial, name),
});

const pattern =
  /\s?\[pulumi: ([^\]]{0,250}) #([0-9a-f]{8})-([0-9a-f]{12})(?:-([0-9a-z]{11})([0-9a-z]{4}))?\]$/;

/**
 * Splits a description from the service into the text that a program or a person wrote, and the
 * mark.
 */
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
 * A time that the service states for an object, in milliseconds since 1970; NaN if there is none.
 * The service's times are GMT (public reference), even if they specify no time zone.
 */
export const objectTime = (value: unknown): number =>
  typeof value === "string"
    ? Date.parse(withoutZone.test(value) ? `${value}Z` : value)
    : Number.NaN;

/** Whether two marks belong to the same resource in the same state. */
export const isSameResource = (a: Mark, b: Mark): boolean =>
  a.stack === b.stack && a.resource === b.resource;

/**
 * Whether two marks have the same project, stack, and logical name, but belong to different states.
 */
export const isNamesake = (a: Mark, b: Mark): boolean => a.label === b.label && a.stack !== b.stack;

/**
 * On a slow plan a POST may wait for hours for its turn; a copy made later than this is detected.
 */
const longestWaitMs = 6 * 3600000;

/**
 * Whether an object itself shows that it is a copy of a marked object: its mark was made for
 * another name, or long before the object was created. A copy with the same name made soon after
 * the original looks the same; only the state and the serial reveal it.
 */
export const isCopy = (mark: Mark, name: unknown, created: unknown): boolean => {
  if (!mark.serial) return false;
  // An invalid name proves nothing.
  const isName = typeof name === "string" || typeof name === "number";
  if (isName && mark.checksum !== checksumOf(mark.serial, name)) return true;
  return objectTime(created) > madeAt(mark.serial) + longestWaitMs;
};

/**
 * Returns true if the mark fits in the field with this description, or false if it does not fit or
 * there is no mark.
 */
export const hasRoom = (
  { mark, room }: { readonly mark: Mark | undefined; readonly room: number },
  description: string | undefined,
): boolean => mark !== undefined && (description ? description.length + 1 : 0) <= room;

/** The mark that an object in the service carries. */
export const markOn = ({ description }: WireObject): Mark | undefined => readMark(description).mark;

/** The name by which people identify an object. */
export const nameOnWire = (definition: Definition, wire: WireObject): unknown =>
  wire[namingOf(definition).wire];
