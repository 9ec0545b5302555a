/** An address without query, fragment and credentials, as the emulator's log has it. */
export const plainAddress = (address: string): string => {
  if (!URL.canParse(address)) return "";
  const { origin, pathname } = new URL(address);
  return origin + pathname;
};
