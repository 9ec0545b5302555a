const neutral = "platform_";

/** A value as it travels: the vendor's own word stands for `platform`. */
export const travelling = (value: string, platformName: string): string =>
  value.startsWith(neutral) ? `${platformName}_${value.slice(neutral.length)}` : value;
