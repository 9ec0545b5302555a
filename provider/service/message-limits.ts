/**
 * What a message, and a call that sends messages, can hold at most (vendor): characters of a text,
 * or entries of a list. The client refuses to send more, and the emulator refuses to take it.
 */
export const messageLimits = {
  /** Messages in one call. */
  messages: 10,
  /** Attributes of a call. */
  metadata: 10,
  /** Attachments of a message. */
  attachments: 5,
  /** Attributes of a message. */
  attributes: 75,
  attributeValue: 2048,
  /** Attributes of a customer. */
  customerAttributes: 10,
  /** The value of a customer's attribute, or of a call's. */
  shortValue: 1023,
  contacts: 25,
  /** The text of a message, in any of the four forms. */
  content: 10_000,
  /** Everything that is called by a name, an address, or an ID of the sender's own. */
  name: 255,
  url: 2500,
  agentId: 36,
  /** Minutes from GMT, in both directions. */
  timeOffset: 720,
  /** Bytes of an attached file. */
  fileSize: 10_485_760,
} as const;

/** The forms of a message's content, of which it has exactly one (vendor). */
export const contentForms = ["text", "html", "json", "xml"] as const;

/** The types of a customer's contacts (vendor). */
export const contactTypes = [
  "email",
  "phone",
  "facebookId",
  "twitterId",
  "appleOpaqueId",
  "other",
] as const;

/** The subtypes of a customer's contacts (vendor). */
export const contactSubTypes = ["mobile", "office", "home"] as const;

/** The words by which a conversation names one of its customer's contacts (vendor). */
export const contactWords = [
  "email",
  "phone.mobile",
  "phone.office",
  "phone.home",
  "facebookId",
  "twitterId",
  "appleOpaqueId",
  "other",
] as const;
