import { ConversationError } from "../kernel/errors.js";
import { type Endpoint, endpointName } from "../service/http/operations.js";

const named = ({ method, template }: Endpoint): Endpoint => ({ method, template });

/** The caller gave up while its call was waiting for its turn. */
export const cancelledWhileWaiting = (endpoint: Endpoint): ConversationError =>
  new ConversationError(
    "CANCELLED",
    `${endpointName(endpoint)} was given up while it waited for its turn. Nothing was sent.`,
    named(endpoint),
  );

/** The call was refused for as long as it was allowed to take. */
export const stillRefused = (endpoint: Endpoint, refusals: number): ConversationError =>
  new ConversationError(
    "THROTTLED",
    `${endpointName(endpoint)} is still over its rate limit; the time allowed for the call is over after ${refusals} refusals. Nothing was done. The limit is shared by everything that calls the service for the tenant: run again when there is less traffic, or with a higher plan.`,
    { ...named(endpoint), status: 429 },
  );
