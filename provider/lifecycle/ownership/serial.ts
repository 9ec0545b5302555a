import { randomInt } from "node:crypto";
import { base36, checksumLength, digest, type Mark, serialLength } from "./mark.js";

/** The first part of a serial is a time, the rest is random. */
const stampLength = 7;
const randomLength = serialLength - stampLength;

/**
 * The serial of an object about to be made.
 *
 * @param now the service's time in milliseconds; kept to the second, so that a copy made much later
 *   than its mark can be told from the original
 */
export const newSerial = (now: number): string =>
  base36(now / 1000, stampLength) + base36(randomInt(36 ** randomLength), randomLength);

/** When a serial was made, in milliseconds of the service's time. */
export const madeAt = (serial: string): number =>
  Number.parseInt(serial.slice(0, stampLength), 36) * 1000;

/** A service may give a name back in another form of the same text. */
export const checksumOf = (serial: string, name: unknown): string => {
  const text = `${serial} ${String(name ?? "")
    .normalize("NFC")
    .trim()}`;
  return base36(Number.parseInt(digest(text, 12), 16) % 36 ** checksumLength, checksumLength);
};

/** A mark for the one object with this serial and name. */
export const markFor = (mark: Mark, serial: string, name: unknown): Mark => ({
  ...mark,
  serial,
  checksum: checksumOf(serial, name),
});
