import { createHash } from "node:crypto";

/**
 * The owner mark: a short suffix of the description that tells people and later runs whose an
 * object is, such as `[pulumi: shop/prod orders-bot #5f0c1a2b-9b2e77aa01cd]`. The first number
 * stands for the stack's `Ownership`, the second for the one resource.
 */
export interface Mark {
  /** Project, stack and logical name, for people. */
  readonly label: string;
  readonly stack: string;
  readonly resource: string;
}

const pattern = /\s?\[pulumi: ([^\]]{0,250}) #([0-9a-f]{8})-([0-9a-f]{12})\]$/;

const digest = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

const readable = (text: string): string => text.replace(/[^\w./@-]+/g, "_").slice(0, 80);

/** The parts of an owner: the stack's ownership and the resource's logical name. */
const partsOf = (owner: string): { readonly ownership: string; readonly name: string } => {
  const [project = "", stack = "", random = "", ...name] = owner.split("/");
  return { ownership: `${project}/${stack}/${random}`, name: name.join("/") };
};

/** What all marks of a stack have in common, from the id of its `Ownership`. */
export const stackMark = (ownership: string): string => digest(ownership, 8);

export const markOf = (kind: string, owner: string): Mark => {
  const { ownership, name } = partsOf(owner);
  const [project = "", stack = ""] = ownership.split("/");
  return {
    label: `${readable(`${project}/${stack}`)} ${readable(name)}`,
    stack: stackMark(ownership),
    resource: digest(`${kind} ${owner}`, 12),
  };
};

export const markText = ({ label, stack, resource }: Mark): string =>
  `[pulumi: ${label} #${stack}-${resource}]`;

/** The description with the mark; without it where both do not fit. */
export const withMark = (
  description: string | undefined,
  mark: Mark,
  max: number,
): string | undefined => {
  const marked = description ? `${description} ${markText(mark)}` : markText(mark);
  return marked.length <= max ? marked : description;
};

/** A description as the service holds it: what the program wrote, and the mark. */
export const readMark = (
  description: unknown,
): { readonly description?: string; readonly mark?: Mark } => {
  if (typeof description !== "string") return {};
  const found = pattern.exec(description);
  const text = found ? description.slice(0, found.index) : description;
  const [, label, stack, resource] = found ?? [];
  return {
    ...(text ? { description: text } : {}),
    ...(label !== undefined && stack && resource ? { mark: { label, stack, resource } } : {}),
  };
};

/** Whether two marks name the same project, stack and logical name, of two different states. */
export const isNamesake = (a: Mark, b: Mark): boolean => a.label === b.label && a.stack !== b.stack;
