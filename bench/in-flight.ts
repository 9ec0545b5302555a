/** Resources that the engine has under way at a time: its `--parallel` on two cores. */
export const inFlight = 8;

/** Runs `count` jobs, so many at a time, and tells how many failed. */
export const failures = async (
  count: number,
  job: (number: number) => Promise<unknown>,
): Promise<number> => {
  let next = 0;
  let failed = 0;
  const slot = async (): Promise<void> => {
    while (next < count) {
      await job(next++).catch(() => {
        failed += 1;
      });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, slot));
  return failed;
};
