/** Major, minor and patch number. */
export type VersionNumber = readonly [number, number, number];

/** The first version in a text such as `v3.259.0` or `go version go1.26.8 linux/amd64`. */
export const versionIn = (text: string): VersionNumber | undefined => {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : undefined;
};

/** Whether the first version in a text is at least another; false where the text holds none. */
export const isAtLeast = (text: string, least: string): boolean => {
  const [have, need] = [versionIn(text), versionIn(least)];
  if (!have || !need) return false;
  const different = have.findIndex((part, index) => part !== need[index]);
  return different === -1 || (have[different] ?? 0) > (need[different] ?? 0);
};
