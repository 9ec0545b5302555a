import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { Switches } from "../../emulator/index.js";
import { jsonIn } from "../../provider/kernel/json.js";
import { typeToken } from "../../provider/kernel/type-tokens.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import { CommandFailure, messageOf } from "../command.js";
import {
  definitionOfType,
  type PreviewStep,
  previewIn,
  resourcesInState,
} from "../pulumi/stack-documents.js";
import type { RehearsedAccount, RehearsedAccountOptions } from "./accounts.js";
import { type EmulatedAccount, emulateAccount } from "./emulated-account.js";
import {
  type OriginalStack,
  readOther,
  stackReferencesIn,
  unknownStackIn,
} from "./original-stack.js";
import { asksToRefresh, excluding, forPreview, namesTargets } from "./pulumi-options.js";
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

/** Pulumi marks colors in messages: `<{%reset%}>`. */
const withoutColour = (text: string): string =>
  stripVTControlCharacters(text.replace(/<\{%[\w ]*%\}>/g, "")).trim();

/** An error of a run; without a URN, it concerns the run as a whole. */
interface EngineError {
  readonly urn?: string;
  readonly message: string;
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

const diagnosticsSchema = z.object({
  diagnostics: z.array(
    z.object({ urn: z.string().optional(), message: z.string(), severity: z.string() }),
  ),
});

/** The errors in what `preview --json` has printed. */
const previewErrorsIn = (printed: string): readonly EngineError[] => {
  const { diagnostics = [] } = diagnosticsSchema.safeParse(jsonIn(printed)).data ?? {};
  return diagnostics.flatMap(({ urn, message, severity }) =>
    severity === "error"
      ? [{ ...(urn ? { urn } : {}), message: withoutColour(message).replace(/^error: /, "") }]
      : [],
  );
};

/** Options of every rehearsal. */
export interface RehearseOptions extends RehearsedAccountOptions {
  readonly operation: "up" | "destroy";
  /** Options for `pulumi up` or `pulumi destroy`. */
  readonly args: readonly string[];
  /** Types of other packages that are run, too. */
  readonly also?: readonly string[];
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

const isRun = (type: string, custom: boolean, also: readonly string[] = []): boolean =>
  !custom ||
  ownTypes.has(type) ||
  /^pulumi:(providers:|pulumi:StackReference$)/.test(type) ||
  definitionOfType(type) !== undefined ||
  also.includes(type);

/** Resources of the state that reach beyond the account. */
const foreignIn = ({ original, also }: RunSetup): readonly string[] =>
  resourcesInState(original.document).flatMap(({ type, urn, custom }) =>
    isRun(type, custom === true, also) ? [] : [urn],
  );

const previews = { up: ["preview"], destroy: ["destroy", "--preview-only"] } as const;

/** A preview on the copy, with the outputs of the stacks that the program turns out to refer to. */
const previewOn = async (
  copy: CopiedStack,
  { operation, original, args }: RunSetup,
  leaving: readonly string[],
) => {
  const missing: string[] = [];
  const asked = new Set<string>();
  const isAdded = async (name: string): Promise<boolean> => {
    // The copy itself is there.
    if (asked.has(name)) return false;
    asked.add(name);
    try {
      await copy.addStack(await readOther(original.stack, name, "clear"));
      return true;
    } catch (error) {
      missing.push(`Cannot copy the outputs of the stack ${name}: ${messageOf(error)}`);
      return false;
    }
  };
  for (const name of stackReferencesIn(original.document)) await isAdded(name);
  const words = [...previews[operation], "--json"];
  for (;;) {
    const ended = await copy.pulumi([...words, ...leaving, ...forPreview(args)]);
    const errors = previewErrorsIn(ended.stdout);
    const unknown = unknownStackIn(errors.map(({ message }) => message));
    // It is new in the program, so no state has it.
    if (ended.code !== 0 && unknown !== undefined && (await isAdded(unknown))) continue;
    const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
    if (ended.code === 0 && !preview)
      throw new CommandFailure(
        "Nothing was rehearsed: cannot read the Pulumi preview. Use Pulumi 3.254 or later.",
      );
    return { ended, errors, preview, missing };
  }
};

const isDeletion = ({ op }: PreviewStep): boolean => op === "delete";

/** Changes to what reaches beyond the account: none of them is run. */
const foreignSteps = ({ also }: RunSetup, steps: readonly PreviewStep[]): readonly PreviewStep[] =>
  steps.filter(({ op, newState, oldState }) => {
    const { type = "", custom = false } = newState ?? oldState ?? {};
    return changing.test(op) && !isRun(type, custom, also);
  });

/** @throws CommandFailure if Pulumi cannot leave out what reaches beyond the account */
const assertExcludable = (args: readonly string[], foreign: readonly PreviewStep[]): void => {
  const kept = foreign.find((step) => !isDeletion(step));
  if (!kept || !namesTargets(args)) return;
  throw new CommandFailure(
    `The run would change ${kept.urn}, which is not an object in the account, and Pulumi cannot exclude resources if --target is used. Rehearse without --target, or allow the resource's type with --also.`,
    2,
  );
};

/**
 * Previews the run and runs it, whatever options a person gives: the preview shows what reaches
 * beyond the account. The run goes on after a refusal, so that each of them is met.
 */
const runIn = async (copy: CopiedStack, emulated: readonly EmulatedAccount[], setup: RunSetup) => {
  const { operation, args } = setup;
  // A refresh would also call the services of the other resources. A destroy has them detached.
  const unread = operation === "up" && asksToRefresh(args) ? foreignIn(setup) : [];
  const ahead = await previewOn(copy, setup, excluding(unread, args));
  const { preview, missing } = ahead;
  const foreign = foreignSteps(setup, preview?.steps ?? []);
  const gone = new Set(preview?.steps.filter(isDeletion).map(({ urn }) => urn));
  const leftOut = new Set([
    ...[...unread, ...foreign.map(({ urn }) => urn)],
    ...foreignIn(setup).filter((urn) => gone.has(urn)),
  ]);
  const before = emulated.map(({ calls }) => calls.length);
  let { ended } = ahead;
  const engine = new EngineEvents();
  if (preview) {
    assertExcludable(args, foreign);
    const [deleted, kept] = [true, false].map((is) =>
      [...leftOut].filter((urn) => gone.has(urn) === is),
    );
    // Excluded, what is deleted would keep everything that it depends on.
    if (operation === "up" && deleted?.length) await copy.detach(deleted);
    const leaving = excluding(kept ?? [], args);
    const words = [operation, "--yes", "--skip-preview", "--continue-on-error", "--json"];
    // The copy is examined afterwards, so its stack stays.
    const given = args.filter((arg) => arg !== "--remove");
    ended = await copy.pulumi([...words, ...leaving, ...given], engine.take);
  } else engine.errors.push(...ahead.errors);
  return {
    ...{ engine, preview },
    succeeded: ended.code === 0,
    said: ended.lastLines.filter((line) => !eventSchema.safeParse(jsonIn(line)).success),
    calls: emulated.flatMap(({ calls }, place) => calls.slice(before[place])),
    /** URNs of resources that are not run, as they reach beyond the account. */
    leftOut: [...leftOut],
    /** The state after the run. */
    after: await copy.readState(),
    /** The objects of each account before and after the run. */
    accounts: emulated.map(({ profile, before: old, objects }) => ({
      ...{ profile, before: old, after: objects() },
    })),
    /** What could not be copied, each a sentence. */
    missing: [...emulated.flatMap((account) => account.missing), ...missing],
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
      detached: operation === "destroy" ? foreignIn(setup) : [],
      variables: Object.assign({}, ...emulated.map(({ variables }) => variables)),
      addresses: {
        starts: emulated.map(({ address }) => address),
        instead: Object.assign({}, ...emulated.map(({ instead }) => instead)),
      },
      signal,
    });
    await copy.copy();
    const run = await runIn(copy, emulated, setup);
    signal.throwIfAborted();
    return run;
  } finally {
    copy?.remove();
    for (const account of emulated) await account.close();
  }
};
