/** A reason why an attempt to deliver a message fails. */
export interface DeliveryFailure {
  readonly rule: string;
  /** What to do next. */
  readonly next: string;
}

/** Reasons why attempts to deliver a message fail. */
export const deliveryFailures = {
  fault: {
    rule: "A fault was requested.",
    next: "`GET /faults` of the control interface lists the pending faults.",
  },
  noRecipient: {
    rule: "There is no callback for the message.",
    next: "Add an active client application with the missing role to the orchestration, and apply the program again.",
  },
  exampleToken: {
    rule: "The token URL is only an example URL.",
    next: "In the program, replace the role's authentication with the one that your bot requires, and apply the program again.",
  },
  noTokenUrl: {
    rule: "The token URL cannot be reached.",
    next: "Start the server at the token URL, or correct the URL in the role's authentication and apply the program again.",
  },
  noLogin: {
    rule: "The service could not log in to the callback.",
    next: "Correct the role's authentication and apply the program again, or fix the server at its token URL.",
  },
  loginRefused: {
    rule: "The callback refused the login.",
    next: "Compare the role's authentication with the credentials that the bot accepts.",
  },
  wrongPath: {
    rule: "The bot does not serve this URL.",
    next: "Compare the callback's path with the path that the bot serves.",
  },
  redirect: {
    rule: "The callback returned a redirect, which the service does not follow.",
    next: "Set the callback to the final URL, and apply the program again.",
  },
  askedToWait: {
    rule: "The bot asked the service to try again later.",
    next: "If the bot never accepts the message, its log shows why. If it only needs more time, increase the deliveryRetries switch.",
  },
  refused: {
    rule: "The bot refused the message, or failed.",
    next: "Check the bot's log, fix the bot, and send the message again.",
  },
  tooLate: {
    rule: "The bot did not respond in time.",
    next: "Have the bot respond with 202 first and do the work afterward.",
  },
  exampleCallback: {
    rule: "The callback is only an example URL.",
    next: "In the program, replace the callback with your bot's URL, and apply the program again.",
  },
  unreachable: {
    rule: "The callback could not be reached.",
    next: "Start the bot, and check that it listens on the callback's host and port.",
  },
} as const satisfies Readonly<Record<string, DeliveryFailure>>;

/** Why an attempt failed. */
export type DeliveryCause = keyof typeof deliveryFailures;

/** Causes that follow from a specific status; every other status is a refusal. */
const causesByStatus: Readonly<Record<number, DeliveryCause>> = {
  401: "loginRefused",
  403: "loginRefused",
  404: "wrongPath",
  405: "wrongPath",
  429: "askedToWait",
  503: "askedToWait",
};

/** Why a callback's response is a failure; undefined for a 2xx, which accepts the message. */
export const causeOfStatus = (status: number): DeliveryCause | undefined => {
  if (status >= 200 && status <= 299) return undefined;
  if (status >= 300 && status <= 399) return "redirect";
  return causesByStatus[status] ?? "refused";
};

/**
 * Whether a URL's host name is reserved for examples (RFC 2606), so that no server can exist there.
 */
export const isExampleUrl = (url: string): boolean =>
  URL.canParse(url) && /(^|\.)example(\.(com|net|org))?$/.test(new URL(url).hostname);
