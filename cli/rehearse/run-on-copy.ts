import { z } from "zod";
import type { Switches } from "../../emulator/index.js";
import { isObject, jsonIn } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { ownershipKind } from "../../provider/lifecycle/ownership-resource.js";
import { CommandFailure } from "../command.js";
import {
  definitionOfType,
  type EngineError,
  resourcesInState,
  type StateResource,
  withoutColour,
} from "../pulumi/stack-documents.js";
import type { AccountReadingOptions, RehearsedAccount } from "./accounts.js";
import { type EmulatedAccount, emulateAccount } from "./emulated-account.js";
import type { OriginalStack } from "./original-stack.js";
import { CopiedStack } from "./stack-copy.js";

const state = z.object({ custom: z.boolean().optional() }).nullish();

const withMetadata = z.object({
  metadata: z.object({ op: z.string(), urn: z.string(), type: z.string(), new: state, old: state }),
});

const eventSchema = z.object({
  resOutputsEvent: withMetadata.optional(),
  resOpFailedEvent: withMetadata.optional(),
  diagnosticEvent: z
    .object({ urn: z.string().optional(), message: z.string(), severity: z.string() })
    .optional(),
});

/** What the engine did with one resource. */
export interface EngineStep {
  readonly urn: string;
  readonly type: string;
  /** Whether it has a provider; a component has none. */
  readonly custom: boolean;
  /** Pulumi's word, such as `create`, `update`, `same`. */
  readonly operation: string;
  readonly failed: boolean;
}

/** Most other lines are long: debug messages, and states before and after each step. */
const isOfInterest = (line: string): boolean =>
  /"(resOutputsEvent|resOpFailedEvent|diagnosticEvent)"/.test(line) &&
  !line.includes('"severity":"debug"');

/**
 * Reads what a preview or a run prints with `--json`, an event on each line: the steps in the order
 * in which they ended, and the errors. Events are never written to a file: the SDK's debug messages
 * among them show secrets in plain text (SDK 3.270, Pulumi 3.259 and 3.276).
 */
export class EngineEvents {
  readonly steps: EngineStep[] = [];
  readonly errors: EngineError[] = [];
  /** Whether no step is missing because its event has an unknown form. */
  isComplete = true;

  readonly take = (line: string): void => {
    if (!isOfInterest(line)) return;
    const event = eventSchema.safeParse(jsonIn(line)).data;
    if (!event) this.isComplete = false;
    const ended = event?.resOutputsEvent ?? event?.resOpFailedEvent;
    if (ended) {
      const { urn, type, op, ...states } = ended.metadata;
      const custom = (states.new ?? states.old)?.custom === true;
      const failed = ended === event?.resOpFailedEvent;
      this.steps.push({ urn, type, custom, operation: op, failed });
    }
    if (event?.diagnosticEvent?.severity !== "error") return;
    const { urn, message } = event.diagnosticEvent;
    this.errors.push({ ...(urn ? { urn } : {}), message: withoutColour(message) });
  };
}

export interface RehearseOptions extends AccountReadingOptions {
  readonly operation: "up" | "destroy";
  /** What is known about the service. */
  readonly switches?: Partial<Switches>;
}

export interface RunSetup extends RehearseOptions {
  readonly original: OriginalStack;
  readonly accounts: readonly RehearsedAccount[];
}

const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken(ownershipKind), "pulumi:pulumi:Stack"]);

/** Whether a resource reaches beyond the account: none of these is run. */
const isForeign = ({ type, custom }: Pick<StateResource, "type" | "custom">): boolean =>
  custom === true &&
  !ownTypes.has(type) &&
  !/^pulumi:(providers:|pulumi:StackReference$)/.test(type) &&
  definitionOfType(type) === undefined;

const foreignIn = ({ original }: RunSetup): readonly string[] =>
  resourcesInState(original.document)
    .filter(isForeign)
    .map(({ urn }) => urn);

/**
 * Keeps an update from what reaches beyond the account. In a deletion of all, it is detached from
 * the start.
 *
 * @param steps of the preview
 * @returns the URNs of these resources, and options that leave out those that would be changed
 */
const leaveOut = async (
  copy: CopiedStack,
  setup: RunSetup,
  steps: readonly EngineStep[],
): Promise<{ readonly leftOut: readonly string[]; readonly options: readonly string[] }> => {
  if (setup.operation === "destroy") return { leftOut: foreignIn(setup), options: [] };
  const gone = new Set(steps.flatMap(({ operation, urn }) => (operation === "delete" ? urn : [])));
  const foreign = steps.filter((step) => changing.test(step.operation) && isForeign(step));
  const kept = foreign.flatMap(({ urn }) => (gone.has(urn) ? [] : urn));
  const deleted = foreignIn(setup).filter((urn) => gone.has(urn));
  // Excluded, what is deleted would keep everything that it depends on.
  if (deleted.length > 0) await copy.detach(deleted);
  const options = kept.flatMap((urn) => ["--exclude", urn]);
  return { leftOut: [...new Set([...kept, ...deleted])], options };
};

/**
 * Previews an update, which shows what reaches beyond the account, and runs it. The run goes on
 * after a refusal, so that each of them is met.
 */
const runIn = async (copy: CopiedStack, emulated: readonly EmulatedAccount[], setup: RunSetup) => {
  const { operation } = setup;
  const [ahead, engine] = [new EngineEvents(), new EngineEvents()];
  const previewed =
    operation === "up" ? await copy.pulumi(["preview", "--json"], ahead.take) : undefined;
  // The stack itself is a step of every preview.
  if (previewed?.code === 0 && !(ahead.isComplete && ahead.steps.length > 0))
    throw new CommandFailure(
      "Nothing was rehearsed: cannot read the Pulumi preview. Use Pulumi 3.254 or later.",
    );
  const before = emulated.map(({ calls }) => calls.length);
  const refused = previewed?.code === 0 ? undefined : previewed;
  if (refused) engine.errors.push(...ahead.errors);
  const { leftOut, options } = refused
    ? { leftOut: [], options: [] }
    : await leaveOut(copy, setup, ahead.steps);
  const words = [operation, "--yes", "--skip-preview", "--continue-on-error", "--json"];
  const ended = refused ?? (await copy.pulumi([...words, ...options], engine.take));
  return {
    ...{ engine, starts: !refused, leftOut },
    succeeded: ended.code === 0,
    said: ended.lastLines.filter((line) => !isObject(jsonIn(line))),
    calls: emulated.flatMap(({ calls }, place) => calls.slice(before[place])),
    after: await copy.readState(),
    accounts: emulated.map(({ names, objects }) => ({ names, objects: objects() })),
    /** What could not be copied, each a sentence. */
    missing: emulated.flatMap(({ missing }) => missing),
  };
};

/** The course and result of a run on a copy. If it does not start, its preview was refused. */
export type RehearsedRun = Awaited<ReturnType<typeof runIn>>;

/**
 * Runs Pulumi on a fresh copy of the stack, against a fresh emulator of each account, and removes
 * them afterwards.
 */
export const runOnCopy = async (setup: RunSetup): Promise<RehearsedRun> => {
  const { operation, original, accounts, switches = {}, signal } = setup;
  const emulated: EmulatedAccount[] = [];
  let copy: CopiedStack | undefined;
  try {
    for (const account of accounts)
      emulated.push(await emulateAccount(account, original.document, switches));
    copy = new CopiedStack(original, {
      variables: Object.assign({}, ...emulated.map(({ variables }) => variables)),
      addresses: {
        starts: emulated.map(({ address }) => address),
        instead: Object.assign({}, ...emulated.map(({ instead }) => instead)),
      },
      signal,
    });
    await copy.copy(operation === "destroy" ? foreignIn(setup) : []);
    const run = await runIn(copy, emulated, setup);
    signal.throwIfAborted();
    return run;
  } finally {
    copy?.remove();
    for (const account of emulated) await account.close();
  }
};
