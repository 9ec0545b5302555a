import { chmodSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { delimiter, join } from "node:path";
import type { z } from "zod";
import type { Definition } from "../../provider/definition/define.js";
import { sameScalar } from "../../provider/definition/meaning.js";
import type { Documents } from "../../provider/forecast/planned-steps.js";
import { textTable, withCount, wrapped } from "../../provider/kernel/columns.js";
import type { JsonObject, Printed } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import { nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import { type PrivateFolder, privateFolder } from "../../provider/pulumi-cli/own-folders.js";
import { type Ended, runCommand } from "../../provider/pulumi-cli/processes.js";
import {
  isAtLeast,
  pulumiStops,
  versionIn,
  writtenOnce,
} from "../../provider/pulumi-cli/pulumi-cli.js";
import {
  type PulumiPlace,
  queryPulumi,
  quietEnvironment,
} from "../../provider/pulumi-cli/pulumi-queries.js";
import { resources } from "../../provider/resources/index.js";
import type { Collections } from "../../provider/service/collections.js";
import type { WireObject } from "../../provider/service/lists.js";
import { objectInputs } from "../account/object-inputs.js";
import {
  type AccountOptions,
  accessService,
  accountSettings,
  readAccountInputs,
  type Say,
} from "../account/open-account.js";
import { CommandFailure } from "../command.js";
import { objectLabel } from "../export/program-files.js";
import { kindNamed, printedResource } from "../export/program-plan.js";
import { currentDocuments } from "../forecast/documents.js";
import { type OpenStack, openStack } from "../stack/open-stack.js";
import { textReport } from "../terminal/report.js";
import { entriesVariable, handOver } from "./converter.js";
import {
  type Candidate,
  divided,
  entryOf,
  type ImportPlan,
  importOwnership,
  inImportFile,
  type PlanImportOptions,
  planImport,
  takeOverRefusal,
} from "./import-entries.js";
import type { importSchema } from "./import-schema.js";
import { planSkeleton, readSkeleton, type SkeletonPlan } from "./skeleton.js";

/** The Pulumi version that each way to import needs, and what an older one means. */
const importWays = {
  /** Reads outputs in import files. */
  file: { least: "3.254.0", outcome: "Nothing was printed" },
  /** Takes outputs from a converter. */
  converter: { least: "3.255.0", outcome: "Nothing was imported" },
} as const;

/**
 * Refuses a CLI that would not import, or would lose members that it does not know.
 *
 * @throws CommandFailure with the installed version and the required one
 */
const assertImports = async (place: PulumiPlace, way: keyof typeof importWays): Promise<void> => {
  const { least, outcome } = importWays[way];
  const answer = await queryPulumi(place, ["version"]);
  const text = "text" in answer ? answer.text : "";
  if (isAtLeast(text, least)) return;
  const have = versionIn(text)?.join(".") ?? "unknown";
  throw new CommandFailure(
    `The Pulumi version is ${have}, but the import requires ${least} or later. ${outcome}. To install a later version, see ` +
      "https://www.pulumi.com/docs/install/",
  );
};

export interface ImportOptions extends AccountOptions, PlanImportOptions {
  /** Import, not only show. */
  readonly apply?: boolean;
  /** An import file without IDs, as `pulumi preview --import-file` writes it; chooses the objects. */
  readonly file?: string;
}

/** What was, or would be, imported. */
export interface ImportResult
  extends Omit<ImportPlan, "entries">,
    Partial<Pick<SkeletonPlan, "skipped" | "filled">> {
  readonly names: OpenStack["names"];
  /** Whether it was done. */
  readonly applied: boolean;
  /** Sentences about what could not be read. */
  readonly notes: readonly string[];
}

/** A folder with the converter under the name that Pulumi looks for. */
const converterFolder = (): PrivateFolder => {
  const made = privateFolder("conversation-converter-");
  const main = join(__dirname, "..", "converter.js");
  const windows = process.platform === "win32";
  const file = join(made.folder, `pulumi-converter-conversation${windows ? ".cmd" : ""}`);
  const line = `"${process.execPath}" "${main}"`;
  writeFileSync(file, windows ? `@${line} %*\r\n` : `#!/bin/sh\nexec ${line} "$@"\n`);
  chmodSync(file, 0o700);
  return made;
};

const flags = [
  ...["--generate-code=false", "--protect=false", "--yes", "--skip-preview"],
  // If an import fails, Pulumi writes its entries into the project, secrets in plain text.
  ...["--generate-resources", devNull],
];

const lockedFailure = ({ names }: OpenStack, by?: string): CommandFailure =>
  new CommandFailure(
    `Nothing was imported: the stack ${names.project}/${names.stack} is locked${by ? ` (${by})` : ""}, so a run may be in progress. ` +
      `Wait until it ends; if it was killed, run ${ownCommand("repair")}. Then import again.`,
  );

/** What Pulumi says if a run, such as a second import, took the lock after the check. */
const aboutLock = /stack is currently locked by|another update is currently in progress/i;

const again =
  `The state contains what was imported so far, or nothing if the import was killed. To clean up, run ${ownCommand("repair")}; ` +
  "then import the rest with --skip-managed.";

const aboutFile = /^Generated import file written out/;

/** How a failed import ended. */
const failureOf = (
  { code, lastLines }: Ended,
  stack: OpenStack,
  isInterrupted: boolean,
): CommandFailure => {
  if (lastLines.some((line) => aboutLock.test(line))) return lockedFailure(stack);
  if (isInterrupted) return new CommandFailure(`Interrupted. ${again}`, 130);
  if (code === undefined) return new CommandFailure(`pulumi import was killed. ${again}`);
  const said = lastLines.filter((line) => !aboutFile.test(line)).slice(-15);
  return new CommandFailure(`pulumi import failed. ${again}\n${said.join("\n").trim()}`);
};

/** @param words say where the resources are */
const runPulumi = async (
  opened: OpenStack,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { place, env } = opened;
  const stack = place.stack ? ["--stack", place.stack] : [];
  const args = ["import", ...words, ...flags, "--non-interactive", ...stack];
  const ended = await runCommand(place.command, args, {
    cwd: place.folder,
    signal,
    env: { ...quietEnvironment(env), ...writtenOnce, ...environment },
    stops: pulumiStops,
  });
  if (ended.code !== 0) throw failureOf(ended, opened, signal?.aborted === true);
};

/** Imports entries, which may hold secrets, from memory to memory. */
const importEntries = async (
  opened: OpenStack,
  entries: ImportPlan["entries"],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { folder, remove } = converterFolder();
  const { url, close } = await handOver(entries);
  const PATH = [folder, opened.env.PATH ?? ""].join(delimiter);
  try {
    const environment = { PATH, [entriesVariable]: url };
    await runPulumi(opened, ["--from", "conversation"], environment, signal);
  } finally {
    await close();
    remove();
  }
};

/** Imports a file, which holds no secret. */
const importFile = async (
  opened: OpenStack,
  document: JsonObject,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { folder, remove } = privateFolder("conversation-import-");
  const file = join(folder, "resources.json");
  try {
    writeFileSync(file, JSON.stringify(document), { mode: 0o600 });
    await runPulumi(opened, ["--file", file], {}, signal);
  } finally {
    remove();
  }
};

/**
 * Imports objects of an account into the state of a stack, by Pulumi's own import. Shows only,
 * unless `apply` is given. Makes list calls only and never writes to the service; with `file`, the
 * program is previewed too.
 *
 * @throws CommandFailure if Pulumi is too old, the file is wrong, an object is not clear or may not
 *   be taken over, or the import fails; ConversationError if the account cannot be read
 */
export const runImport = async (options: ImportOptions): Promise<ImportResult> => {
  const { file, progress, signal } = options;
  const skeleton = file === undefined ? undefined : readSkeleton(file);
  const stack = await openStack(options);
  const { names, place, env } = stack;
  await assertImports(place, "converter");
  const where = { folder: place.folder, env, stack: options.stack };
  const documents: Documents = skeleton ? await currentDocuments("up", where, signal) : {};
  const steps = documents.preview?.steps ?? [];
  const { objects, reading, notes } = await readAccountInputs(options);
  // Read after the account: by then the states hold what a run has made or taken over in between.
  const states = await stack.readStates("all");
  const plan = skeleton
    ? planSkeleton(skeleton, { names, steps, objects, reading, states }, options)
    : planImport(objects, names, states, options);
  const applied = options.apply === true && plan.taken.length > 0;
  if (applied) {
    const lock = await stack.readLock();
    // Pulumi would refuse too, but later and in other words.
    if (lock.state === "locked") throw lockedFailure(stack, lock.by);
    if (signal?.aborted) throw new CommandFailure("Interrupted. Nothing was imported.", 130);
    const count = withCount(plan.taken.length, "object");
    const step = progress?.step(`Importing ${count}`);
    try {
      if ("filled" in plan) await importFile(stack, plan.filled, signal);
      else await importEntries(stack, plan.entries, signal);
      step?.done(`Imported ${count}`);
    } catch (error) {
      step?.failed();
      throw error;
    }
  }
  const { taken, left } = plan;
  const filled = "filled" in plan ? { skipped: plan.skipped, filled: plan.filled } : {};
  return { taken, left, ...filled, names, applied, notes };
};

/** What `import --json` prints. */
export const importJson = ({
  names,
  applied,
  taken,
  left,
  skipped,
  notes,
}: ImportResult): Printed<z.output<typeof importSchema>> => ({
  ...names,
  applied,
  objects: taken.map(printedResource),
  left: left.map((each) => ({ ...printedResource(each), reason: each.reason })),
  ...(skipped ? { skipped } : {}),
  notes,
});

/** An export has the same names. */
const exported = ownCommand("export --out <folder>");

/** The next step. */
const nextStep = ({ names, applied, taken, filled }: ImportResult): string => {
  const stack = `${names.project}/${names.stack}`;
  if (taken.length === 0) return `Nothing is left to import into ${stack}. Nothing was changed.`;
  const counted = taken.length === 1 ? "this object" : `these ${taken.length} objects`;
  if (!applied) return `Nothing was imported. To import ${counted} into ${stack}, add --apply.`;
  // A file from a preview has what the program declares.
  const declare = filled
    ? ""
    : "Declare them in the program under these names before the next pulumi up, " +
      `which would otherwise delete them in the service. To write the code, run: ${exported}. Then `;
  return (
    `The objects are in the state of ${stack}. ${declare}pulumi preview shows the differences, ` +
    "and the first pulumi up writes the dependencies into the state."
  );
};

/** More omitted objects than this are only counted, because their reasons are long and alike. */
const mostOmitted = 3;

const omittedLines = ({ left, skipped = [] }: ImportResult): readonly string[] => {
  const omitted = [
    ...left.map(({ object, reason }) => `${objectLabel(object)} (ID ${object.id}): ${reason}`),
    ...skipped.map(({ type, name, reason }) => `${type} ${name}: ${reason}`),
  ];
  return omitted.length > mostOmitted
    ? [`Omitted: ${omitted.length} objects. To list them with the reasons, add --json.`]
    : omitted.flatMap((each) => wrapped(`Omitted: ${each}.`, 80));
};

/** What was, or would be, imported, for people, within 80 columns. */
export const importReport = (result: ImportResult): string => {
  const { taken, notes } = result;
  const rows = taken.map(({ object, logical }) => [object.definition.kind, object.id, logical]);
  return textReport(
    rows.length > 0 ? textTable(["kind", "id", "resource"], rows, { whole: ["kind", "id"] }) : [],
    [
      ...omittedLines(result),
      ...notes.flatMap((note) => wrapped(`Not read: ${note}`, 80)),
      ...wrapped(nextStep(result), 80),
    ],
  );
};

/** An object to be printed, and the resource that is to represent it. */
interface PrintedObject {
  readonly kind: string;
  /** Logical name of the resource. */
  readonly name: string;
  readonly id: string;
  /** Whether `id` is the name of the object in the service. */
  readonly isByName: boolean;
}

const definitionNamed = (kind: string): Definition => {
  const found = kindNamed(kind);
  if (found) return found;
  const kinds = resources.map((each) => each.kind).join(", ");
  throw new CommandFailure(`${JSON.stringify(kind)} is not a kind. Kinds: ${kinds}.`, 2);
};

type Find = (
  service: Collections,
  definition: Definition,
  text: string,
) => Promise<readonly [id: string, WireObject]>;

const byId: Find = async (service, definition, id) => {
  const wire = await service.read(definition, id);
  if (wire) return [id, wire];
  throw new CommandFailure(
    `There is no ${definition.noun} with the ID ${id}. Nothing was printed.`,
  );
};

const byName: Find = async (service, definition, name) => {
  const { objects } = await service.list(definition);
  const found = [...objects].filter(([, wire]) => sameScalar(nameOnWire(definition, wire), name));
  const [one, ...others] = found;
  if (one && others.length === 0) return one;
  const called = `${definition.noun} with the name ${JSON.stringify(name)}`;
  if (!one) throw new CommandFailure(`There is no ${called}. Nothing was printed.`);
  const ids = found.map(([id]) => id).join(", ");
  throw new CommandFailure(
    `There is more than one ${called}: ${ids}. Specify one of these IDs, without --by-name.`,
  );
};

/** @throws CommandFailure if a resource or an object is named twice: Pulumi would accept neither */
const assertOnce = (candidates: readonly Candidate[]): void => {
  const names = candidates.flatMap(({ object: { definition, id }, logical }) => [
    `${definition.kind} ${logical}`,
    `${definition.kind} with the ID ${id}`,
  ]);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined)
    throw new CommandFailure(
      `${twice} is specified twice. Specify it once. Nothing was printed.`,
      2,
    );
};

/**
 * The import file of these objects, as `pulumi import --file` reads it. One call to the service for each;
 * nothing is written to it.
 *
 * @throws CommandFailure if Pulumi is too old, no object or several match, or one may not be taken
 *   over; ConversationError if one cannot be read
 */
export const runImportFile = async (
  named: readonly PrintedObject[],
  options: AccountOptions & { readonly say?: Say },
): Promise<string> => {
  const wanted = named.map((each) => ({ ...each, definition: definitionNamed(each.kind) }));
  const stack = await openStack(options);
  await assertImports(stack.place, "file");
  const settings = await accountSettings(options);
  const { env = process.env, signal, clock, profile, say } = options;
  const access = accessService(settings, { environment: env, say, clock, signal });
  try {
    const candidates: Candidate[] = [];
    for (const { definition, name: logical, id, isByName } of wanted) {
      const find = isByName ? byName : byId;
      const [found, wire] = await find(access.service, definition, id);
      candidates.push({ object: objectInputs(definition, found, wire, settings), logical });
    }
    assertOnce(candidates);
    // Read after the objects: by then the states hold what a run has taken over in between.
    const states = await stack.readStates("all");
    const { left } = divided(candidates, states);
    if (left.length > 0)
      throw takeOverRefusal(left, "Resolve these problems first.", "Nothing was printed");
    const { ownership, first } = importOwnership(stack.names, states);
    const entries = candidates.map((candidate) => entryOf(candidate, { ownership, profile }));
    return inImportFile([...first, ...entries]);
  } finally {
    await access.close();
  }
};
