import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  LocalWorkspace,
  PulumiCommand,
  type PulumiFn,
  type Stack,
} from "@pulumi/pulumi/automation/index.js";
import { runInline } from "../../sdk/testing/pulumi-stack.js";

/** A stack of the real engine on a backend of its own. */
export interface TestStack {
  readonly stack: Stack;
  up(program: PulumiFn, ...replace: string[]): ReturnType<Stack["up"]>;
  preview(program: PulumiFn): ReturnType<Stack["preview"]>;
  /** The state file as it lies on the disk, secrets encrypted. */
  state(): string;
  remove(): Promise<void>;
}

const binFolder = (): string => {
  const folder = process.env.PULUMI_CONVERSATION_TEST_PULUMI;
  if (!folder)
    throw new Error(
      "PULUMI_CONVERSATION_TEST_PULUMI names no folder: run these tests by `npm test`",
    );
  return folder;
};

export const testStack = async (
  environment: Readonly<Record<string, string>>,
  stackName = "prod",
): Promise<TestStack> => {
  const folder = mkdtempSync(join(tmpdir(), "conversation-stack-"));
  const pulumiCommand = await PulumiCommand.get({ root: dirname(binFolder()) });
  const stack = await LocalWorkspace.createStack(
    { stackName, projectName: "shop", program: async () => undefined },
    {
      pulumiCommand,
      projectSettings: {
        name: "shop",
        runtime: "nodejs",
        main: process.cwd(),
        backend: { url: `file://${folder}` },
      },
      envVars: {
        PULUMI_CONFIG_PASSPHRASE: "test",
        PULUMI_HOME: join(folder, "home"),
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        ...environment,
      },
    },
  );
  // Two more commands of Pulumi after each run, for what no test looks at.
  stack.outputs = async () => ({});
  return {
    stack,
    up: (given, ...replace) =>
      runInline(given, (program) =>
        stack.up({ program, ...(replace.length > 0 ? { replace } : {}) }),
      ),
    preview: (given) => runInline(given, (program) => stack.preview({ program })),
    state: () =>
      readFileSync(join(folder, ".pulumi", "stacks", "shop", `${stackName}.json`), "utf8"),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
};
