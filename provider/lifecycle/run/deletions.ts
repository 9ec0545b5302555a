/**
 * Deletions of one run that may have to wait for each other. The engine deletes in parallel what it
 * knows no dependency between: freshly imported resources, or a channel beside the client
 * applications that hold it by the literal wording of the rules. So a refusal is final only when no
 * other deletion can still clear the way.
 */
export interface Deletions {
  /**
   * @param attempt deletes one object
   * @param mayPass whether a failure of `attempt` can go away once other objects are gone
   */
  run(attempt: () => Promise<void>, mayPass: (error: unknown) => boolean): Promise<void>;
}

export const createDeletions = (): Deletions => {
  let working = 0;
  let done = 0;
  let waiting: (() => void)[] = [];

  const wakeAll = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };

  const tryOnce = async (attempt: () => Promise<void>): Promise<{ error?: unknown }> => {
    working += 1;
    try {
      await attempt();
      done += 1;
      return {};
    } catch (error) {
      return { error };
    } finally {
      working -= 1;
      wakeAll();
    }
  };

  /** Whether another object went since; false when nobody is left who could clear the way. */
  const progressSince = async (before: number): Promise<boolean> => {
    while (done === before && working > 0) await new Promise<void>((wake) => waiting.push(wake));
    return done > before;
  };

  const run: Deletions["run"] = async (attempt, mayPass) => {
    for (;;) {
      const before = done;
      const { error } = await tryOnce(attempt);
      if (error === undefined) return;
      if (!mayPass(error) || !(await progressSince(before))) throw error;
    }
  };
  return { run };
};
