import type { PulumiFn, Stack } from "@pulumi/pulumi/automation/index.js";
import type { Forecast } from "../../../cli/forecast/forecast.js";
import type { DeliveryEntry, Emulator, StoredObject } from "../../../emulator/index.js";
import type { ConversationClient } from "../../runtime/connection/connect.js";
import type { ExpectedCalls, ExpectedDelivery } from "../checks/call-check.js";
import type { HubCall } from "../checks/hub-records.js";
import type { ForecastConditions, ForecastLimits } from "../checks/stack-forecast.js";
import type {
  TestConversation,
  TestConversationStart,
} from "../conversations/test-conversation.js";
import type { StackRun } from "./pulumi-runs.js";

/**
 * A Pulumi program that was applied to an emulator of its own. A run of Pulumi that fails throws a
 * StackFailure; an expectation that fails throws an AssertionError that says what is there instead.
 */
export interface EmulatedStack extends AsyncDisposable {
  /** The emulator. */
  readonly emulator: Emulator;
  /** The stack, as Pulumi's Automation API has it. */
  readonly stack: Stack;
  /** A client of the emulator, to send and read messages with. */
  readonly client: ConversationClient;
  /** What the last `up` gave out, secrets in clear. */
  readonly outputs: Readonly<Record<string, unknown>>;
  /**
   * Runs `pulumi up`.
   *
   * @param program another program, for this run and all that follow. Default: the one before
   */
  up(program?: PulumiFn): Promise<StackRun>;
  /** Runs `pulumi preview`; `program`: another one, for this run only. */
  preview(program?: PulumiFn): Promise<StackRun>;
  /** Runs `pulumi refresh`. */
  refresh(): Promise<StackRun>;
  /** Runs `pulumi destroy`. */
  destroy(): Promise<StackRun>;
  /** Objects of a kind, such as `Participant`: the service's JSON, secrets in clear. */
  objects(kind: string): Promise<readonly StoredObject[]>;
  /** Every call to the service since the emulator was started, also those of tests. */
  calls(): Promise<readonly HubCall[]>;
  /** Every try to deliver a message. */
  deliveries(): Promise<readonly DeliveryEntry[]>;
  /**
   * Expects an object whose members are like those given: texts may be patterns, of objects only the
   * members given count, of lists all items.
   *
   * @returns the object
   *
   * @example
   * await stack.expectObject("Participant", { name: /^orders-bot/, type: "custom_bot" });
   */
  expectObject(kind: string, expected: object): Promise<StoredObject>;
  /** Expects that there is no object like this; `{}`: none of the kind at all. */
  expectNoObject(kind: string, expected: object): Promise<void>;
  /**
   * Expects exactly so many calls of each endpoint; none of endpoints that are not named.
   *
   * @param of the calls looked at. Default: all since the emulator was started
   *
   * @example
   * const { calls } = await stack.up();
   * await stack.expectCalls({}, calls);
   */
  expectCalls(expected: ExpectedCalls, of?: readonly HubCall[]): Promise<void>;
  /** Expects a delivery, and waits for it. `withinMs`: on the emulator's clock; default: 5,000. */
  expectDelivery(
    expected: ExpectedDelivery & { readonly withinMs?: number },
  ): Promise<DeliveryEntry>;
  /** Foretells how long a run takes and how many calls it makes, on a plan. */
  forecast(conditions?: ForecastConditions): Promise<Forecast>;
  /**
   * Expects that a run stays within its limits.
   *
   * @example
   * await stack.expectForecast({ plan: "developer", maxMinutes: 2, maxCalls: 30 });
   */
  expectForecast(limits: ForecastLimits): Promise<Forecast>;
  /**
   * A conversation on the account, which begins with its first message.
   *
   * @example
   * const ada = stack.conversation({ channel: "custom.web", address: "shop-web" });
   * await ada.say("Where is my order?");
   * await ada.expect({ from: "bot", type: "richMessage.listpicker" });
   */
  conversation(start: TestConversationStart): TestConversation;
  /**
   * Looks again and again until there is something to be seen.
   *
   * @param look gives undefined as long as there is nothing
   * @param withinMs longest wait, on the emulator's clock
   * @returns what was seen; undefined where the time was over first
   */
  until<T>(look: () => Promise<T | undefined>, withinMs: number): Promise<T | undefined>;
  /** Moves a manual clock on, in milliseconds: a conversation can grow old in a moment. */
  advance(ms: number): void;
  /** Stops the emulator and removes the state of the stack. What it held is not destroyed first: nothing of it is left. */
  close(): Promise<void>;
}
