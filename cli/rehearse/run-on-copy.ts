import { z } from "zod";
import type { Switches } from "../../emulator/index.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { ownershipKind } from "../../provider/lifecycle/ownership-resource.js";
import { CommandFailure } from "../command.js";
import {
  definitionOfType,
  type EngineError,
  type PreviewStep,
  previewErrorsIn,
  previewIn,
  resourcesInState,
  type StateResource,
  withoutColour,
} from "../pulumi/stack-documents.js";
import type { AccountReadingOptions, RehearsedAccount } from "./accounts.js";
import { type EmulatedAccount, emulateAccount } from "./emulated-account.js";
import type { OriginalStack } from "./original-stack.js";
import { CopiedStack } from "./stack-copy.js";

const withMetadata = z.object({
  metadata: z.object({ op: z.string(), urn: z.string(), type: z.string() }),
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
  /** Pulumi's word, such as `create`, `update`, `same`. */
  readonly operation: string;
  readonly failed: boolean;
}

/** Most other lines are long: debug messages, and states before and after each step. */
const isOfInterest = (line: string): boolean =>
  /"(resOutputsEvent|resOpFailedEvent|diagnosticEvent)"/.test(line) &&
  !line.includes('"severity":"debug"');

/**
 * Reads what `up --json` or `destroy --json` prints, an event on each line: the steps in the order
 * in which they ended, and the errors. Events are never written to a file: the SDK's debug messages
 * among them show secrets in plain text (SDK 3.270, Pulumi 3.259 and 3.276).
 */
export class EngineEvents {
  readonly steps: EngineStep[] = [];
  readonly errors: EngineError[] = [];

  readonly take = (line: string): void => {
    if (!isOfInterest(line)) return;
    const event = eventSchema.safeParse(jsonIn(line)).data;
    const ended = event?.resOutputsEvent ?? event?.resOpFailedEvent;
    if (ended) {
      const { urn, type, op } = ended.metadata;
      this.steps.push({ urn, type, operation: op, failed: ended === event?.resOpFailedEvent });
    }
    if (event?.diagnosticEvent?.severity !== "error") return;
    const { urn, message } = event.diagnosticEvent;
    this.errors.push({ ...(urn ? { urn } : {}), message: withoutColour(message) });
  };
}

/** Options of every rehearsal. */
export interface RehearseOptions extends AccountReadingOptions {
  readonly operation: "up" | "destroy";
  /** What is known about the service. */
  readonly switches?: Partial<Switches>;
}

/** What to run on a copy, and where. */
export interface RunSetup extends RehearseOptions {
  readonly original: OriginalStack;
  readonly accounts: readonly RehearsedAccount[];
}

/** Steps that change something. */
const changing = /create|update|delete|replace|import/;

const ownTypes = new Set([typeToken(ownershipKind), "pulumi:pulumi:Stack"]);

/** Whether a resource reaches beyond the account: none of these is run. */
const isForeign = ({ type = "", custom }: Partial<StateResource>): boolean =>
  custom === true &&
  !ownTypes.has(type) &&
  !/^pulumi:(providers:|pulumi:StackReference$)/.test(type) &&
  definitionOfType(type) === undefined;

const foreignIn = ({ original }: RunSetup): readonly string[] =>
  resourcesInState(original.document)
    .filter(isForeign)
    .map(({ urn }) => urn);

const previews = { up: ["preview"], destroy: ["destroy", "--preview-only"] } as const;

/** What the run will do, or why Pulumi refuses before it begins. */
const previewOn = async (copy: CopiedStack, { operation }: RunSetup) => {
  const ended = await copy.pulumi([...previews[operation], "--json"]);
  const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
  if (ended.code === 0 && !preview)
    throw new CommandFailure(
      "Nothing was rehearsed: cannot read the Pulumi preview. Use Pulumi 3.254 or later.",
    );
  return { ended, preview, errors: previewErrorsIn(ended.stdout) };
};

const isDeletion = ({ op }: PreviewStep): boolean => op === "delete";

/**
 * Keeps a run from what reaches beyond the account.
 *
 * @returns the URNs of these resources, and options that leave out those that would be changed
 */
const leaveOut = async (
  copy: CopiedStack,
  setup: RunSetup,
  steps: readonly PreviewStep[],
): Promise<{ readonly leftOut: readonly string[]; readonly options: readonly string[] }> => {
  const foreign = steps.filter(
    ({ op, newState, oldState }) => changing.test(op) && isForeign(newState ?? oldState ?? {}),
  );
  const kept = foreign.filter((step) => !isDeletion(step)).map(({ urn }) => urn);
  const gone = new Set(steps.filter(isDeletion).map(({ urn }) => urn));
  const deleted = foreignIn(setup).filter((urn) => gone.has(urn));
  // Excluded, what is deleted would keep everything that it depends on.
  if (setup.operation === "up" && deleted.length > 0) await copy.detach(deleted);
  const options = kept.flatMap((urn) => ["--exclude", urn]);
  return { leftOut: [...new Set([...kept, ...deleted])], options };
};

/**
 * Previews the run and runs it: the preview shows what reaches beyond the account. The run goes on
 * after a refusal, so that each of them is met.
 */
const runIn = async (copy: CopiedStack, emulated: readonly EmulatedAccount[], setup: RunSetup) => {
  const { preview, errors, ...ahead } = await previewOn(copy, setup);
  const before = emulated.map(({ calls }) => calls.length);
  let { ended } = ahead;
  let leftOut: readonly string[] = [];
  const engine = new EngineEvents();
  if (preview) {
    const leaving = await leaveOut(copy, setup, preview.steps);
    leftOut = leaving.leftOut;
    const words = [setup.operation, "--yes", "--skip-preview", "--continue-on-error", "--json"];
    ended = await copy.pulumi([...words, ...leaving.options], engine.take);
  } else engine.errors.push(...errors);
  return {
    ...{ engine, preview, leftOut },
    succeeded: ended.code === 0,
    said: ended.lastLines.filter((line) => !eventSchema.safeParse(jsonIn(line)).success),
    calls: emulated.flatMap(({ calls }, place) => calls.slice(before[place])),
    /** The state after the run. */
    after: await copy.readState(),
    /** The objects of each account after the run. */
    accounts: emulated.map(({ names, objects }) => ({ names, objects: objects() })),
    /** What could not be copied, each a sentence. */
    missing: emulated.flatMap(({ missing }) => missing),
  };
};

/** The course and result of a run on a copy. Without a preview, Pulumi refused before it began. */
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
