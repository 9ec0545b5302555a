type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const reaches = (imports: Imports, from: string, to: string): boolean => {
  const seen = new Set([from]);
  for (const part of seen) for (const next of imports.get(part) ?? []) seen.add(next);
  return seen.has(to);
};

/** One after the other is left out, so that of two which follow from each other one stays. */
const withoutWhatFollows = (imports: Imports): Imports => {
  const left = new Map([...imports].map(([from, targets]) => [from, new Set(targets)]));
  for (const from of [...left.keys()].toSorted())
    for (const to of [...(left.get(from) ?? [])].toSorted()) {
      left.get(from)?.delete(to);
      if (!reaches(left, from, to)) left.get(from)?.add(to);
    }
  return left;
};

const nodeOf = (part: string): string => `${part.replaceAll(/\W/g, "_")}["${part}"]`;

/**
 * The parts and what each of them loads, as a block of Mermaid. An arrow that follows from others is
 * left out.
 *
 * @param imports for each part the parts whose code it loads
 */
export const architecturePicture = (imports: Imports): string => {
  const arrows = [...withoutWhatFollows(imports)].flatMap(([from, targets]) =>
    [...targets].map((to) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
  );
  return ["```mermaid", "flowchart TD", ...arrows.toSorted(), "```", ""].join("\n");
};
