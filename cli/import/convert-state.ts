import { devNull } from "node:os";
import { dirname } from "node:path";
import { Command, Option } from "commander";
import { cliOfThisRun, pulumiOfThisRun } from "../../provider/stacks/pulumi-process.js";
import { readAccountInputs } from "../account/open-account.js";
import { CommandFailure, type Given, messageOf } from "../command.js";
import { withOptions } from "../command-line.js";
import { importOptions } from "../commands/common-options.js";
import { projectFile } from "../pulumi-cli/stack-config.js";
import { openStack } from "../stack/open-stack.js";
import { entriesVariable, handedOver } from "./entry-handover.js";
import type { ImportEntry } from "./import-entries.js";
import { planImport } from "./plan-import.js";

type ImportFlags = Given<typeof importOptions>;

/** @throws CommandFailure where an argument is wrong */
const flagsIn = (args: readonly string[]): ImportFlags => {
  // Scripts that add Pulumi's own option at the end of every command add it here.
  const interactive = new Option("--non-interactive").hideHelp();
  const parser = withOptions(new Command("pulumi import --from conversation --"), importOptions)
    .addOption(interactive)
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  try {
    return parser.parse([...args], { from: "user" }).opts<ImportFlags>();
  } catch (error) {
    throw new CommandFailure(`${messageOf(error)} (after --)`, 2);
  }
};

/**
 * Where an import fails, Pulumi writes what it was given into the folder of the project, secrets in clear,
 * unless --generate-resources names another place.
 *
 * @throws CommandFailure where secrets were asked for, and it was not
 */
const assertNoFile = ({ withSecrets }: ImportFlags): void => {
  const words = cliOfThisRun()?.args;
  const isGiven = words?.some((word) => /^--generate-resources(=|$)/.test(word)) ?? true;
  if (withSecrets && !isGiven)
    throw new CommandFailure(
      "With --with-secrets, an import that fails would leave a file with all secrets in clear in the folder of the project. " +
        `Give pulumi import also: --generate-resources ${devNull}`,
      2,
    );
};

/** The stack that the Pulumi which started this process imports into. */
const stackOfThisRun = async (profile: string | undefined) => {
  const { command, folder, env, given } = pulumiOfThisRun();
  const project = projectFile(folder);
  const options = { folder: project ? dirname(project) : folder, env: { ...process.env, ...env } };
  const stack = await openStack({
    ...options,
    ...(given ? { stack: given } : {}),
    ...(profile ? { profile } : {}),
  });
  return { stack, options: { ...options, ...(given ? { stack: given } : {}), command } };
};

/**
 * What Pulumi takes into the state: the entries of the command that started this converter, else those
 * that the arguments choose from the account.
 *
 * @throws CommandFailure where an object may not be taken over; ConversationError where the account
 *   cannot be read
 */
export const convertState = async (args: readonly string[]): Promise<readonly ImportEntry[]> => {
  const handed = process.env[entriesVariable];
  if (handed) return handedOver(handed);
  const flags = flagsIn(args);
  assertNoFile(flags);
  const { stack, options } = await stackOfThisRun(flags.profile);
  const { command: _, ...account } = options;
  const { objects } = await readAccountInputs({
    ...account,
    ...(flags.profile ? { profile: flags.profile } : {}),
  });
  // After the account: what a run makes or takes over in between is held by then.
  const states = await stack.readStates("all");
  return planImport(objects, { names: stack.names, states }, flags).entries;
};
