import { indented } from "../../provider/kernel/columns.js";
import type { BlastRadius, RemainingUser } from "./blast-radius.js";

/** Exit code of a run whose deletions the service will refuse. */
export const blockedDeletionCode = 4;

const whose = ({ managed, stack }: RemainingUser): string => {
  if (managed === "own") return "of this stack";
  if (managed === "stack") return `of the stack ${stack}`;
  return stack ? `in no state that can be seen; its mark names ${stack}` : "not managed by Pulumi";
};

const uncertainLines = ({ unread = [] }: BlastRadius): readonly string[] =>
  unread.length === 0
    ? []
    : indented(
        `Nobody can tell whether these kinds use what is deleted, as they could not be read: ${unread.join(", ")}`,
        0,
      );

/** Who stands in the way of deletions, and the order that works; empty where nobody does. */
export const blastRadiusLines = (radius: BlastRadius): readonly string[] => {
  const { blocked, order } = radius;
  if (blocked.length === 0) return uncertainLines(radius);
  const many = blocked.length === 1 ? "This deletion" : `These ${blocked.length} deletions`;
  return [
    `${many} will be refused, as something still uses what is deleted:`,
    "",
    ...blocked.flatMap(({ kind, name, id, users }) => [
      ...indented(`${kind} "${name}" (id ${id}) is used by`, 2),
      ...users.flatMap((user) =>
        indented(`${user.kind} "${user.name}" (id ${user.id}, ${whose(user)}): ${user.path}`, 4),
      ),
    ]),
    "",
    "The order that works:",
    "",
    ...order.flatMap(({ action, kind, name, id }, at) =>
      indented(
        action === "delete"
          ? `${at + 1}. delete ${kind} "${name}" (id ${id})`
          : `${at + 1}. change ${kind} "${name}" (id ${id}) so that it uses something else, or delete it`,
        2,
      ),
    ),
    ...uncertainLines(radius),
  ];
};
