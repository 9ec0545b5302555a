import { isSurelyMask } from "../../provider/definition/wire/secret-evidence.js";

/** Words in the names of members that hold secrets. */
const named =
  /passw|passphrase|secret|token|credential|authori[sz]ation|bearer|signature|((api|access|auth|client|encryption|private|shared|signing|session)[-_. ]?keys?\b)/i;

/** A scheme of HTTP with its credentials, a private key, a signed token, an address with a password. */
const formed =
  /^(basic|bearer)\s+\S+$|-----BEGIN [A-Z ]*PRIVATE KEY|^eyJ[\w-]+\.[\w-]+\.|^[a-z][\w+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/**
 * Whether a text of which no field knows anything may be a secret, or stands in the place of one. A text
 * that is taken for one by mistake stays out of files, and nothing is lost by it.
 */
export const mayBeSecret = (name: string, text: string): boolean =>
  text !== "" && (isSurelyMask(text) || named.test(name) || formed.test(text.trim()));
