import { z } from "zod";
import { type Emulator, startEmulator } from "../../../emulator/index.js";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { type Settings, settingTable } from "../../../provider/service/setting-table.js";
import { profilePrefix } from "../../../provider/service/settings.js";
import { printedJson } from "../../../provider/stacks/pulumi-queries.js";
import { CommandFailure } from "../../command.js";
import type { Printed } from "../../printed.js";
import { ensurePulumi } from "../../pulumi-cli/ensure-pulumi.js";
import type { Progress } from "../../terminal/progress.js";
import type { proofSchema } from "../export-schema.js";
import { type ProofProject, proofProject } from "./proof-project.js";

/** What came of an export on an emulator that holds the same account. */
export type Proof = Printed<z.output<typeof proofSchema>>;

export interface ProofOptions {
  readonly files: ReadonlyMap<string, string>;
  readonly stack: string;
  /** The program declares nothing, so that there is nothing to import. */
  readonly isEmpty: boolean;
  /** Keys of the secrets that the program asks for. */
  readonly secrets: readonly string[];
  /** Content of the emulator. */
  readonly copy: JsonObject;
  readonly settings: Settings;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

const stepSchema = z.object({
  op: z.string(),
  urn: z.string(),
  diffReasons: z.array(z.string()).nullish(),
});

const previewSchema = z.object({ steps: z.array(stepSchema).nullish() });

/** Operations that leave everything as it is. */
const quiet = new Set(["same", "read", "refresh"]);

const differencesIn = (printed: string): readonly string[] => {
  const { data } = previewSchema.safeParse(printedJson(printed));
  if (!data) throw new CommandFailure("Proving the export: pulumi preview printed no JSON.");
  return (
    (data.steps ?? [])
      // The stack itself is new where nothing was imported.
      .filter(({ op, urn }) => !quiet.has(op) && !urn.includes("::pulumi:pulumi:Stack::"))
      .map(({ op, urn, diffReasons }) => {
        const name = urn.split("::").slice(2).join(" ");
        return `${op} ${name}${diffReasons?.length ? `: ${diffReasons.join(", ")}` : ""}`;
      })
  );
};

const load = async ({ controlUrl, controlSecret }: Emulator, copy: JsonObject): Promise<void> => {
  const response = await fetch(`${controlUrl}/snapshot`, {
    method: "PUT",
    headers: { authorization: `Bearer ${controlSecret}` },
    body: JSON.stringify(copy),
  });
  if (!response.ok)
    throw new CommandFailure(
      `Proving the export: the emulator does not take the account: ${await response.text()}`,
    );
};

/** The emulator's settings in the place of the account's, whose rates and whose Redis are not its own. */
const settingsFor = (emulator: Emulator, { profile, platformName }: Settings) => {
  const { baseUrl, tokenUrl, clientId, clientSecret } = emulator;
  const own = { baseUrl, tokenUrl, clientId, clientSecret, platformName };
  const free = { plan: "enterprise", burst: "1000000", share: "1" };
  const values = new Map<string, string>(Object.entries({ ...own, ...free }));
  return Object.fromEntries(
    Object.entries(settingTable).map(([key, { environment }]) => [
      profilePrefix(profile) + environment,
      values.get(key),
    ]),
  );
};

const compared = async (
  project: ProofProject,
  { secrets, isEmpty }: ProofOptions,
): Promise<Proof> => {
  await project.run("stack", "init", project.stack);
  const values = secrets.flatMap((key) => ["--secret", `${key}=any-value`]);
  if (values.length > 0) await project.run("config", "set-all", ...values);
  const how = ["--generate-code=false", "--protect=false", "--yes", "--skip-preview"];
  if (!isEmpty) await project.run("import", "--file", "import.json", ...how);
  const differences = differencesIn(await project.run("preview", "--json"));
  const refreshed = differencesIn(await project.run("preview", "--json", "--refresh"));
  const all = [...new Set([...differences, ...refreshed])];
  return { ok: all.length === 0, differences: all };
};

/**
 * Imports an export on an emulator with the same account and previews it. Calls no service but the
 * emulator, and leaves nothing behind.
 *
 * @throws CommandFailure where Pulumi cannot be had, or the import is refused
 */
export const prove = async (options: ProofOptions): Promise<Proof> => {
  const { progress, signal, files, stack, settings } = options;
  const cli = await ensurePulumi({ progress, signal });
  const step = progress.step("Importing the export on an emulator with the same account");
  const emulator = await startEmulator({ controlSecret: true });
  try {
    await load(emulator, options.copy);
    const project = proofProject({
      ...{ cli, files, stack, settings: settingsFor(emulator, settings) },
      ...(signal ? { signal } : {}),
    });
    try {
      const proof = await compared(project, options);
      step.done(proof.ok ? "Proved: 0 changes" : "Compared: something would change");
      return proof;
    } finally {
      project.remove();
    }
  } catch (error) {
    step.failed();
    throw error;
  } finally {
    await emulator.close();
  }
};
