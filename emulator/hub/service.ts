import { randomBytes } from "node:crypto";
import { AssetStore, SignedUrls } from "../conversations/assets.js";
import { ConversationStore } from "../conversations/conversation-store.js";
import { Deliveries, type ShownDelivery } from "../conversations/deliveries.js";
import { Store } from "../objects/objects.js";
import { type PlanName, planNames, RateLimiter, scopesByLabel, Tokens } from "../service/access.js";
import { CallLog } from "../service/calls.js";
import { clockKinds, createClock, type EmulatorClock } from "../service/clock.js";
import { Faults } from "../service/faults.js";
import { createSwitches, type Switches } from "../service/switches.js";
import { Clients } from "../tokens/clients.js";

/** Options for an emulator. */
export interface EmulatedServiceOptions {
  readonly plan?: PlanName;
  readonly burst?: number;
  readonly clock?: EmulatorClock["kind"];
  readonly switches?: Partial<Switches>;
  /**
   * Deadline for the response from a callback, in milliseconds of real time. Default: 5,000 (public
   * reference).
   */
  readonly callbackDeadlineMs?: number;
  /**
   * The actual destination of a call to a callback or to the token URL of its authentication. Lets
   * a test redirect calls to its own server. Objects and logs keep the original URL. Default: the
   * original URL.
   */
  readonly callbackRoute?: (address: string) => string;
  /**
   * Called once for each message that a callback did not accept, with the last attempt. The
   * function must not fail.
   */
  readonly onUndelivered?: (lastAttempt: ShownDelivery) => void;
}

/** The complete state of an emulator. */
export type EmulatedService = ReturnType<typeof createService>;

const assertOptions = (options: EmulatedServiceOptions): void => {
  const { plan = "none", burst, clock = "real", callbackDeadlineMs = 1 } = options;
  if (!planNames.includes(plan))
    throw new Error(`There is no plan ${plan}. Plans: ${planNames.join(", ")}.`);
  if (burst !== undefined && !(Number.isSafeInteger(burst) && burst >= 1))
    throw new Error('"burst" must be a whole number of calls, at least 1.');
  if (!clockKinds.includes(clock))
    throw new Error(`There is no clock ${clock}. Clocks: ${clockKinds.join(", ")}.`);
  if (!(Number.isFinite(callbackDeadlineMs) && callbackDeadlineMs > 0))
    throw new Error("callbackDeadlineMs must be a number of milliseconds greater than 0.");
};

/** @throws Error if an option is not allowed; it names the allowed ones */
export const createService = (options: EmulatedServiceOptions) => {
  assertOptions(options);
  const {
    plan = "none",
    burst,
    callbackDeadlineMs = 5_000,
    callbackRoute,
    onUndelivered,
  } = options;
  const clock = createClock(options.clock ?? "real");
  const switches = createSwitches(options.switches);
  const clients = new Clients({
    clientId: "emulator",
    clientSecret: randomBytes(24).toString("hex"),
    scopes: Object.values(scopesByLabel),
  });
  const store = new Store(clock);
  const conversations = new ConversationStore();
  const faults = new Faults();
  return {
    clock,
    /** Always the same object, which holds what is set. */
    switches,
    store,
    clients,
    tokens: new Tokens(clock),
    rateLimiter: new RateLimiter({ plan, burst, clock }),
    faults,
    log: new CallLog(),
    conversations,
    assets: new AssetStore(),
    signedUrls: new SignedUrls(),
    deliveries: new Deliveries(clock, {
      store,
      conversations,
      switches,
      faults,
      deadlineMs: callbackDeadlineMs,
      ...(callbackRoute ? { route: callbackRoute } : {}),
      ...(onUndelivered ? { onUndelivered } : {}),
    }),
  };
};
