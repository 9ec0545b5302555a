import { readdir, rm, stat } from "node:fs/promises";
import { join, sep } from "node:path";

/**
 * Attributes beside the files of a file backend that are empty: Pulumi writes them in place, and a run that
 * is killed in that instant leaves them so. It can then not read the file beside them ("failed to load
 * checkpoint: EOF"); without them it can.
 *
 * @param backend folder of the backend
 * @param stack default: of all stacks of the project
 * @returns whole paths
 */
export const cutOffFiles = async (
  backend: string,
  project: string,
  stack?: string,
): Promise<readonly string[]> => {
  const root = join(backend, ".pulumi");
  const names = await readdir(root, { recursive: true }).catch(() => []);
  const isOfStack = (name: string): boolean => {
    const parts = name.split(sep);
    const at = parts.indexOf(project);
    const of = at < 0 ? undefined : parts[at + 1]?.replace(/\.json.*$/, "");
    return parts.length === 1 || (of !== undefined && (stack === undefined || of === stack));
  };
  const ours = names.filter((name) => name.endsWith(".attrs") && isOfStack(name));
  const paths = ours.map((name) => join(root, name));
  const sizes = await Promise.all(
    paths.map(async (path) => (await stat(path).catch(() => undefined))?.size),
  );
  return paths.filter((_, place) => sizes[place] === 0);
};

/** Removes such files; one that is gone by now is no error. */
export const removeCutOffFiles = async (paths: readonly string[]): Promise<void> => {
  for (const path of paths)
    if ((await stat(path).catch(() => undefined))?.size === 0) await rm(path, { force: true });
};
