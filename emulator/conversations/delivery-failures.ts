/** A reason why an attempt to deliver a message fails. */
export interface DeliveryFailure {
  readonly rule: string;
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
  example: {
    rule: "The callback, or the token URL of its authentication, is only an example URL.",
    next: "In the program, replace it with the one of your bot, and apply the program again.",
  },
  noLogin: {
    rule: "The service could not log in to the callback.",
    next: "Compare the role's authentication with the credentials that the bot accepts, and check the server at its token URL.",
  },
  refused: {
    rule: "The bot refused the message, or failed.",
    next: "Check the callback's path and the bot's log, fix the bot, and send the message again.",
  },
  unreachable: {
    rule: "The callback could not be reached, or did not respond in time.",
    next: "Start the bot, and check that it listens on the callback's host and port. Have it respond with 202 before it does its work.",
  },
} as const satisfies Readonly<Record<string, DeliveryFailure>>;

/** Why a callback's response is a failure; undefined for a 2xx, which accepts the message. */
export const failureOfStatus = (status: number): DeliveryFailure | undefined => {
  if (status >= 200 && status <= 299) return undefined;
  return status === 401 || status === 403 ? deliveryFailures.noLogin : deliveryFailures.refused;
};

/**
 * Whether a URL's host name is reserved for examples (RFC 2606), so that no server can exist there.
 */
export const isExampleUrl = (url: string): boolean =>
  URL.canParse(url) && /(^|\.)example(\.(com|net|org))?$/.test(new URL(url).hostname);
