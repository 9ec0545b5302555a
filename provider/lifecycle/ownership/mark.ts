import { hash } from "node:crypto";
import { ownerParts } from "../../stacks/owner.js";

/**
 * The owner mark: a short suffix of the description that tells people and later runs whose an
 * object is, such as `[pulumi: shop/prod orders-bot #5f0c1a2b-9b2e77aa01cd-0tm9x2k4r7q1c2d]`. The
 * first number stands for the stack's `Ownership`, the second for the one resource, the third for
 * the one object. Marks of release 0.1.0 lack the third.
 */
export interface Mark {
  /** Project, stack and logical name, for people. */
  readonly label: string;
  readonly stack: string;
  readonly resource: string;
  /** New with every POST: a copy that a person makes of an object carries the serial of the original. */
  readonly serial?: string;
  /** Follows from the serial and the name: a copy under another name does not fit its mark. */
  readonly checksum?: string;
}

/** The start of a hash. */
export const digest = (text: string, length: number): string =>
  hash("sha256", text).slice(0, length);

const readable = (text: string): string => text.replace(/[^\w./@-]+/g, "_").slice(0, 80);

/** What all marks of a stack have in common, from the id of its `Ownership`. */
export const stackMark = (ownership: string): string => digest(ownership, 8);

/** How the labels of all marks of a stack begin, such as `shop/prod`. */
export const stackLabel = (project: string, stack: string): string =>
  readable(`${project}/${stack}`);

/** The mark of a resource, without what tells its objects apart. */
export const markOf = (kind: string, owner: string): Mark => {
  const { project, stack, ownership, name } = ownerParts(owner);
  return {
    label: `${stackLabel(project, stack)} ${readable(name)}`,
    stack: stackMark(ownership),
    resource: digest(`${kind} ${owner}`, 12),
  };
};

/** Characters of a serial, and of a checksum. */
export const serialLength = 11;
export const checksumLength = 4;

/** A number in so many digits and letters. */
export const base36 = (value: number, length: number): string =>
  Math.floor(value).toString(36).padStart(length, "0").slice(-length);

/** The mark as it stands in a description. */
export const markText = ({ label, stack, resource, serial, checksum }: Mark): string =>
  `[pulumi: ${label} #${stack}-${resource}${serial && checksum ? `-${serial}${checksum}` : ""}]`;

/**
 * How many characters a field has beside the mark of a resource: serials and checksums are of one length.
 *
 * @param max length of the field. Default: it is not limited
 */
export const roomBeside = (mark: Mark, max = Number.POSITIVE_INFINITY): number => {
  const [serial, checksum] = [base36(0, serialLength), base36(0, checksumLength)];
  return max - markText({ ...mark, serial, checksum }).length;
};
