import { vi } from "vitest";

/** Where a command runs: its folder, and all variables of its environment. */
interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs something in this process as if it had been started there. Variables are set one by one: a
 * `process.env` of another object is not what the system's functions read.
 */
export const inside = async <Result>(
  { folder, env }: Place,
  work: () => Promise<Result>,
): Promise<Result> => {
  const before = process.cwd();
  process.chdir(folder);
  for (const name of Object.keys({ ...process.env, ...env })) vi.stubEnv(name, env[name]);
  try {
    return await work();
  } finally {
    process.chdir(before);
    vi.unstubAllEnvs();
  }
};
