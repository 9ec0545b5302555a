import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";
import {
  bitString,
  generalizedTime,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  tagged,
  trueValue,
  unsignedInteger,
  utf8Text,
} from "./der.js";

/** What a server needs for TLS, as PEM text. */
export interface TlsFiles {
  /** The certificate, with those that it hangs on. */
  readonly cert: string;
  readonly key: string;
}

const dayMs = 86_400_000;
const lifetimeDays = 365;

/** An address as it stands in a certificate: 4 or 16 bytes. */
const addressBytes = (address: string): Buffer => {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  // The URL parser knows every way in which such an address can be written.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const groups = (text: string | undefined): string[] => (text ? text.split(":") : []);
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
};

const subjectName = (name: string): Buffer =>
  isIP(name) > 0 ? tagged(0x87, addressBytes(name)) : tagged(0x82, Buffer.from(name, "latin1"));

/** ECDSA with SHA-256 (RFC 5758). */
const signatureAlgorithm = sequence(objectIdentifier("1.2.840.10045.4.3.2"));

const commonName = (name: string): Buffer =>
  sequence(setOf(sequence(objectIdentifier("2.5.4.3"), utf8Text(name))));

const extension = (id: string, value: Buffer, isCritical: boolean): Buffer =>
  sequence(objectIdentifier(id), ...(isCritical ? [trueValue()] : []), octetString(value));

/** What the certificate is for: RFC 5280 §4.2.1. It is its own authority, so that it can be trusted alone. */
const extensionsFor = (names: readonly string[]): Buffer =>
  tagged(
    0xa3,
    sequence(
      extension("2.5.29.19", sequence(trueValue()), true),
      // Digital signature and signing of certificates: bits 0 and 5.
      extension("2.5.29.15", bitString(Buffer.of(0b10000100), 2), true),
      extension("2.5.29.37", sequence(objectIdentifier("1.3.6.1.5.5.7.3.1")), false),
      extension("2.5.29.17", sequence(...names.map(subjectName)), false),
    ),
  );

const pem = (der: Buffer): string => {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
};

/** What a certificate can name: no wildcard addresses, no text that is no host name. */
const isHostName = (name: string): boolean =>
  isIP(name) > 0 || /^[a-z0-9*]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name);

/** Names by which callers on this machine, and containers beside it, know the emulator. */
const namesFor = (host: string): readonly string[] => {
  const usual = ["localhost", "127.0.0.1", "::1", "emulator", "host.docker.internal"];
  return [...new Set([...usual, hostname(), host])].filter(isHostName);
};

/**
 * A new certificate for the names of this machine, and its key: signed by itself, good for a year. Who
 * calls must be told to trust it.
 *
 * @param host that the emulator listens on
 */
export const selfSigned = (host: string): TlsFiles => {
  const now = Date.now();
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = commonName("pulumi-conversation emulator");
  const toBeSigned = sequence(
    tagged(0xa0, unsignedInteger(Buffer.of(2))),
    // Positive, and without a leading zero byte.
    unsignedInteger(Buffer.concat([Buffer.of(0x40), randomBytes(15)])),
    signatureAlgorithm,
    name,
    sequence(
      generalizedTime(new Date(now - dayMs)),
      generalizedTime(new Date(now + lifetimeDays * dayMs)),
    ),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    extensionsFor(namesFor(host)),
  );
  const signature = sign("sha256", toBeSigned, privateKey);
  return {
    cert: pem(sequence(toBeSigned, signatureAlgorithm, bitString(signature))),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
};
