import type { Definition } from "../../definition/define.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
  isConversationError,
} from "../../kernel/errors.js";
import { endpointName, setUpOperation } from "../http/operations.js";
import type { Settings } from "../settings/setting-table.js";
import { addressAdvice } from "../settings/settings.js";

/** What a connection knows about the other end of its address. */
export interface ServiceAddress {
  /** The address has answered as only the service does. */
  confirm(): void;
  /**
   * Resolves where a 404 for an object means that the object is not there.
   *
   * @param refusal the 404
   * @param list asks for the list of the kind, unless somebody does already
   * @throws ConversationError `BAD_RESPONSE` where the address is not the service's, or why the list
   * cannot be had
   */
  assertAbsent(
    definition: Definition,
    refusal: ConversationError,
    list: () => Promise<unknown>,
  ): Promise<void>;
}

/** Whether a refusal has the form of the service's own: a code that begins with the status, and a message. */
const isOwnRefusal = ({ status, serviceCode = "", serviceMessage }: ErrorDetails): boolean =>
  status !== undefined &&
  new RegExp(`^${status}-\\d+$`).test(serviceCode) &&
  serviceMessage !== undefined;

/** What the list of the service itself is never answered with. */
const foreignCodes: readonly ConversationErrorCode[] = ["NOT_FOUND", "BAD_RESPONSE"];

const isRefusal = ({ status = 0 }: ErrorDetails): boolean => status >= 400 && status < 500;

/** What the list did instead of answering. */
const failureText = ({ code, details: { status = 0 } }: ConversationError): string => {
  if (code === "NOT_FOUND") return "is answered 404, too";
  return status >= 300 ? `is redirected (${status})` : "gives an answer that cannot be used";
};

const wrongAddress = (
  definition: Definition,
  settings: Settings,
  refusal: ConversationError,
  failure: ConversationError,
): ConversationError => {
  const list = endpointName(setUpOperation(definition, "list"));
  return new ConversationError(
    "BAD_RESPONSE",
    `${refusal.message} But ${list} ${failureText(failure)}, so this address does not look like the service. Nothing was taken for gone. ${addressAdvice(settings)}`,
    { ...refusal.details, permanent: true },
    "none",
    { cause: failure },
  );
};

/**
 * Believes a 404 only at an address that was seen to be the service's: a wrong base path answers 404
 * to everything, and a run that took this for absence would empty its state.
 */
export const serviceAddress = (settings: Settings): ServiceAddress => {
  let isService = false;
  return {
    confirm: () => {
      isService = true;
    },
    assertAbsent: async (definition, refusal, list) => {
      // A way in front of the service may lack the path of this one kind: only its list tells.
      const isTold = () => isService && isOwnRefusal(refusal.details);
      if (isTold()) return;
      try {
        await list();
      } catch (error) {
        if (!isConversationError(error)) throw error;
        // Another call was answered meanwhile: only this list is out of order.
        if (isTold()) return;
        if (foreignCodes.includes(error.code))
          throw wrongAddress(definition, settings, refusal, error);
        // Who may not list is refused by the service itself, as is who asks for what is gone.
        const isOwn = isOwnRefusal(refusal.details) && isOwnRefusal(error.details);
        if (!(isOwn && isRefusal(error.details))) throw error;
      }
    },
  };
};
