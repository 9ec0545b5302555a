import type { RequestListener } from "node:http";
import type { PulumiFn } from "@pulumi/pulumi/automation/index.js";
import type { Emulator, EmulatorOptions } from "../../../emulator/index.js";
import type { Callbacks } from "../../runtime/callbacks/callbacks.js";
import type { ConversationClient } from "../../runtime/connection/connect.js";

/** A value of the stack's configuration: plain text, or a secret. */
export type StackConfigValue = string | { readonly value: string; readonly secret: boolean };

/** Who answers a callback in a test: a handler made by `callbacks`, or a listener of node:http. */
export type CallbackHandler = Pick<Callbacks, "node" | "idle"> | RequestListener;

/** Handlers by the address of the callback, as the program gives it. */
export type CallbackHandlers = Readonly<Record<string, CallbackHandler>>;

/** What handlers may use to answer. */
export interface HandlerContext {
  /** A client of the emulator. */
  readonly client: ConversationClient;
  /** The emulator itself. */
  readonly emulator: Emulator;
}

/** How a stack is set up for a test. */
export interface EmulatedStackOptions {
  /**
   * The program: a function, as the Automation API takes it, or the folder of a Pulumi project. What
   * the project file says holds; configuration files of stacks are not read.
   */
  readonly program: PulumiFn | string;
  /** Configuration of the stack; keys without a namespace belong to the project. Default: none. */
  readonly config?: Readonly<Record<string, StackConfigValue>>;
  /**
   * Who answers the callbacks of the account. A callback that is not named here and not on this
   * machine is answered with 200 by the test itself: no message leaves the machine. Default: none.
   */
  readonly callbacks?: CallbackHandlers | ((context: HandlerContext) => CallbackHandlers);
  /**
   * Options of the emulator. Default: no rate limits, and a manual clock, which goes along with real
   * time while Pulumi runs or a conversation waits, and stands still otherwise; over HTTP its control
   * asks for a random secret.
   */
  readonly emulator?: Omit<EmulatorOptions, "callbackRoute">;
  /** Profiles of the program; all of them reach the emulator. Default: none but the one without a name. */
  readonly profiles?: readonly string[];
  /** Further environment variables of the run. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Name of the project of a program that is a function. Default: `test`. */
  readonly projectName?: string;
  /** Name of the stack. Default: `test`. */
  readonly stackName?: string;
  /** The `pulumi` program. Default: the one on PATH. */
  readonly pulumi?: string;
}
