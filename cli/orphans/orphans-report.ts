import { table } from "../terminal/table.js";
import type { FoundOrphan } from "./run-orphans.js";

const outcome = ({ deleted, reason }: FoundOrphan): string => {
  if (deleted === undefined) return "";
  return deleted ? "deleted" : `kept: ${reason}`;
};

/** What was found, for people. */
export const orphansReport = (found: readonly FoundOrphan[]): string => {
  if (found.length === 0)
    return "Nothing is left over: the state knows every object that this stack made.\n";
  const rows = found.map((orphan) => [
    orphan.kind,
    orphan.name,
    orphan.id,
    orphan.label,
    outcome(orphan),
  ]);
  const advice = found.some(({ deleted }) => deleted === undefined)
    ? "\nThe state does not know these. If a program still declares one, pulumi up takes it over.\nDelete them with: pulumi-conversation orphans --delete\n"
    : "";
  return `${table(["kind", "name", "id", "made by", ""], rows).join("\n")}\n${advice}`;
};
