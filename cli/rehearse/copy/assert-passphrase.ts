import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandFailure } from "../../command.js";
import { saltOfStack } from "../../pulumi-cli/project-document.js";
import { projectFile } from "../../pulumi-cli/stack-config.js";
import type { OpenStack } from "../../stack/open-stack.js";
import { hasPassphrase } from "./passphrase-crypter.js";

/** What Pulumi takes without asking a person. */
const givenPassphrase = (env: NodeJS.ProcessEnv, folder: string): string | undefined => {
  const { PULUMI_CONFIG_PASSPHRASE: text, PULUMI_CONFIG_PASSPHRASE_FILE: file } = env;
  return text ?? (file ? readFileSync(resolve(folder, file), "utf8").trim() : undefined);
};

/**
 * Refuses a passphrase that is not the one of the stack. Pulumi reads a stack in which nothing is
 * encrypted with any, but refuses to run it.
 *
 * @throws CommandFailure where it is another one
 */
export const assertPassphrase = async ({
  place: { folder },
  env,
  names: { project, stack },
}: Pick<OpenStack, "place" | "env" | "names">): Promise<void> => {
  const file = projectFile(folder);
  const salt = file && saltOfStack(file, stack);
  const passphrase = salt && givenPassphrase(env, folder);
  if (salt === undefined || passphrase === undefined) return;
  if (await hasPassphrase(passphrase, salt)) return;
  throw new CommandFailure(
    `The passphrase is not the one of the stack ${project}/${stack}, so Pulumi would not run it, and nothing was done. ` +
      "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack.",
  );
};
