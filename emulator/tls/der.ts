/** Kinds of values in DER (ITU-T X.690), by the byte that they begin with. */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const lengthOf = (bytes: number): Buffer => {
  if (bytes < 0x80) return Buffer.of(bytes);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex");
  return Buffer.concat([Buffer.of(0x80 | digits.length), digits]);
};

/** A value with its tag and length. */
export const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
};

export const sequence = (...parts: readonly Buffer[]): Buffer => tagged(tags.sequence, ...parts);

export const setOf = (...parts: readonly Buffer[]): Buffer => tagged(tags.set, ...parts);

/** A number that is not negative, the most significant byte first. */
export const unsignedInteger = (bytes: Buffer): Buffer =>
  tagged(tags.integer, Number(bytes[0]) > 0x7f ? Buffer.concat([Buffer.of(0), bytes]) : bytes);

export const bitString = (bytes: Buffer, unusedBits = 0): Buffer =>
  tagged(tags.bitString, Buffer.of(unusedBits), bytes);

export const octetString = (bytes: Buffer): Buffer => tagged(tags.octetString, bytes);

export const trueValue = (): Buffer => tagged(tags.boolean, Buffer.of(0xff));

export const utf8Text = (text: string): Buffer => tagged(tags.utf8String, Buffer.from(text));

/** In base 128, each byte but the last with its highest bit set. */
const base128 = (value: number): readonly number[] => {
  const low = value & 0x7f;
  const high = Math.floor(value / 128);
  return high === 0 ? [low] : [...base128(high).map((byte) => byte | 0x80), low];
};

/** Such as `2.5.29.17`. */
export const objectIdentifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest.flatMap((part) => base128(part))];
  return tagged(tags.objectIdentifier, Buffer.from(bytes));
};

/** To the second. */
export const generalizedTime = (date: Date): Buffer =>
  tagged(tags.generalizedTime, Buffer.from(`${date.toISOString().replace(/[-:T]|\..*/g, "")}Z`));
