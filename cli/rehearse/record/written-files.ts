import { fstatSync, statSync } from "node:fs";

/** A file by device and number, whatever it is called: `undefined` for what is none. */
export type FileIdentity = string;

const identityIn = (
  stat: () => { isFile(): boolean; dev: bigint; ino: bigint } | undefined,
): FileIdentity | undefined => {
  try {
    const found = stat();
    return found?.isFile() ? `${found.dev}:${found.ino}` : undefined;
  } catch {
    // A closed descriptor, or a link that leads nowhere.
    return undefined;
  }
};

/** The file at a path, or behind a link there. */
export const fileIdentity = (path: string): FileIdentity | undefined =>
  identityIn(() => statSync(path, { bigint: true, throwIfNoEntry: false }));

/**
 * The files to which standard output and standard error of this process go. A shell makes them before the
 * process begins.
 */
export const redirectedTo = (): readonly FileIdentity[] =>
  [1, 2].flatMap((descriptor) => identityIn(() => fstatSync(descriptor, { bigint: true })) ?? []);
