/** How long a core is at work for this, in milliseconds: on a busy machine the same, unlike the time until it is done. */
export const coreMsOf = async (work: () => unknown): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
