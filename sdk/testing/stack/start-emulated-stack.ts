import type { OutputMap, PulumiFn } from "@pulumi/pulumi/automation/index.js";
import { type Emulator, type StoredObject, startEmulator } from "../../../emulator/index.js";
import { assertNode } from "../../../provider/kernel/node-version.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { type ConversationClient, connect } from "../../runtime/connection/connect.js";
import { objectsIn, textAt } from "../../runtime/json-members.js";
import { HubRecords } from "../checks/hub-records.js";
import { plainAddress } from "../checks/plain-address.js";
import { testConversation } from "../conversations/test-conversation.js";
import { EmulatedTime } from "../conversations/waiting.js";
import { type CallbackServer, startCallbackServer } from "./callback-server.js";
import type { EmulatedStack } from "./emulated-stack.js";
import { OpenRuns } from "./open-runs.js";
import { endWithProcess } from "./open-stacks.js";
import { type PulumiCommandName, runPulumi } from "./pulumi-runs.js";
import type { PulumiStack } from "./pulumi-workspace.js";
import { stackChecks } from "./stack-checks.js";
import { StackFailure } from "./stack-failure.js";
import type { EmulatedStackOptions } from "./stack-options.js";
import { tokenAnswers } from "./token-answers.js";

/** Everything that a stack of a test is made of, and that ends with it. */
interface Parts {
  readonly server: CallbackServer;
  readonly emulator: Emulator;
  readonly client: ConversationClient;
  readonly pulumi: PulumiStack;
}

/** Ends each part, whatever becomes of the others. @throws what the first of them failed with */
const endAll = async ({ client, emulator, server, pulumi }: Partial<Parts>): Promise<void> => {
  const ended = await Promise.allSettled([client?.close(), emulator?.close(), server?.close()]);
  pulumi?.remove();
  const failed = ended.find((each) => each.status === "rejected");
  if (failed) throw failed.reason;
};

const startParts = async (options: EmulatedStackOptions): Promise<Parts> => {
  assertNode();
  const { createPulumiStack } = await import("./pulumi-workspace.js");
  const server = await startCallbackServer();
  const begun: Partial<Parts> = { server };
  try {
    const settings = {
      ...({ clock: "manual", controlSecret: true } as const),
      ...options.emulator,
      callbackRoute: server.route,
    };
    const emulator = await startEmulator(settings);
    const platformName = options.emulator?.switches?.platformName;
    const client = connect(platformName === undefined ? emulator : { ...emulator, platformName });
    Object.assign(begun, { emulator, client });
    const pulumi = await createPulumiStack(emulator, options);
    return { server, emulator, client, pulumi };
  } catch (error) {
    await endAll(begun);
    throw error;
  }
};

/** @throws StackFailure where a handler is for an address that no role has */
const assertHandlersUsed = (
  server: CallbackServer,
  applications: readonly StoredObject[],
): void => {
  const roles = applications.flatMap((object) => objectsIn(object, "roles"));
  const known = new Set(roles.map((role) => plainAddress(textAt(role, "callback") ?? "")));
  const unused = server.addresses().filter((address) => !known.has(address));
  if (unused.length === 0) return;
  throw new StackFailure(
    `Setting up a stack for a test: no role of a client application has the callback ${unused.join(", ")}, for which the option callbacks has a handler. Callbacks: ${[...known].join(", ") || "none"}.`,
  );
};

const valuesOf = (outputs: OutputMap): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

const stackOn = (parts: Parts, options: EmulatedStackOptions): EmulatedStack => {
  const { server, emulator, client, pulumi } = parts;
  const { stack } = pulumi;
  const runs = new OpenRuns();
  const { switches, clock = "manual" } = options.emulator ?? {};
  const records = new HubRecords(emulator.control, switches?.platformName ?? "platform");
  const time = new EmulatedTime(emulator, clock === "manual");
  const finalTries = (switches?.deliveryRetries ?? 2) + 1;
  let outputs: Readonly<Record<string, unknown>> = {};
  const run = async (command: PulumiCommandName, program?: PulumiFn) => {
    const means = { stack, records, time, signal: runs.signal };
    const { outputs: made, ...done } = await runs.add(() => runPulumi(command, means, program));
    if (command === "up") outputs = valuesOf(made);
    server.setTokenAnswers(await tokenAnswers(records));
    return done;
  };
  let closing: Promise<void> | undefined;
  const closeNow = async (): Promise<void> => {
    runs.abort();
    await runs.ended();
    await endAll(parts).finally(released);
  };
  const close = (): Promise<void> => {
    closing ??= closeNow();
    return closing;
  };
  const abandon = (): void => {
    runs.abort();
    pulumi.remove();
  };
  const released = endWithProcess({ close, abandon });
  return {
    emulator,
    stack,
    client,
    get outputs() {
      return outputs;
    },
    up: async (program) => {
      if (program) stack.workspace.program = program;
      return run("up");
    },
    preview: (program) => run("preview", program),
    refresh: () => run("refresh"),
    destroy: () => run("destroy"),
    ...stackChecks(stack, records, time),
    conversation: (start) =>
      testConversation({ client, records, time, finalTries, handlers: server }, start),
    until: (look, withinMs) => time.until(look, withinMs),
    advance: (ms) => time.advance(ms),
    close,
    [Symbol.asyncDispose]: close,
  };
};

/**
 * Starts an emulator and applies a Pulumi program to it with `pulumi up`: the real engine, the real
 * provider, and a state that is removed with the stack. Needs the Pulumi CLI.
 *
 * @throws StackFailure where there is no Pulumi CLI, or `up` fails, with what Pulumi said
 *
 * @example
 * const stack = await startEmulatedStack({
 *   program: async () => {
 *     const desk = new Authentication("desk", { basicAuth: { username: "hub", password } });
 *     return { id: desk.id };
 *   },
 * });
 * await stack.expectObject("Authentication", { type: "basic" });
 * await stack.close();
 */
export const startEmulatedStack = (options: EmulatedStackOptions): Promise<EmulatedStack> =>
  startWhile(new AbortController().signal, options);

/** The same, given up where the signal is aborted: nobody waits for the stack any more. */
export const startWhile = async (
  signal: AbortSignal,
  options: EmulatedStackOptions,
): Promise<EmulatedStack> => {
  const parts = await startParts(options);
  const made = stackOn(parts, options);
  const giveUp = (): void => void made.close().catch(() => undefined);
  signal.addEventListener("abort", giveUp);
  try {
    signal.throwIfAborted();
    const { callbacks = {} } = options;
    const { server, client, emulator } = parts;
    server.setHandlers(
      typeof callbacks === "function" ? callbacks({ client, emulator }) : callbacks,
    );
    await made.up();
    assertHandlersUsed(server, await made.objects(clientApplication.kind));
    return made;
  } catch (error) {
    await made.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
};
