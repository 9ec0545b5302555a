import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { type RepairOptions, runRepair } from "../../../cli/repair/repair.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { openedSecrets } from "../../../provider/pulumi-cli/stack-documents.js";
import { withoutPace } from "../../support/cli-project.js";
import { managedStack } from "../drift/managed-stack.js";
import { ownershipOf } from "../stack-documents.js";
import { shellScript, temporaryFolder } from "../temporary-folder.js";

const special = "4dabf18193072939515e22adb298388d";

const holdsSecret = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(holdsSecret)
    : isObject(value) && (special in value || Object.values(value).some(holdsSecret));

/** One secret inside a list makes a secret of the whole list. */
const asPulumiKeeps = (value: unknown): unknown => {
  if (Array.isArray(value))
    return holdsSecret(value)
      ? {
          [special]: "1b47061264138c4ac30d75fd1eb44270",
          plaintext: JSON.stringify(openedSecrets(value)),
        }
      : value.map(asPulumiKeeps);
  if (!isObject(value) || special in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, asPulumiKeeps(member)]),
  );
};

/** Something that a run began and did not report on. */
export const pending = (type: string, resource: JsonObject): JsonObject => {
  const { id: _, outputs: __, ...begun } = resource;
  return { type, resource: type === "creating" ? begun : resource };
};

/**
 * A stack with real objects at an emulator, and a program that stands for Pulumi: it keeps the state in a
 * file backend, logs what it is asked, and changes the state as Pulumi would.
 *
 * @param backend default: the folder of the sandbox, whose locks can be seen
 */
export const stackSandbox = async (
  switches: Readonly<Record<string, string>> = {},
  backend?: string,
) => {
  const stack = await managedStack(switches);
  const folder = temporaryFolder();
  const at = (...path: string[]): string => join(folder, ...path);
  const locks = at(".pulumi", "locks", "organization", "shop", "prod");
  for (const path of [locks, at(".pulumi", "stacks", "shop"), at("cache")])
    mkdirSync(path, { recursive: true });
  writeFileSync(at("Pulumi.yaml"), "name: shop\nruntime: nodejs\n");
  writeFileSync(at("asked"), "");
  writeFileSync(at("preview.json"), '{"steps":[],"changeSummary":{}}');
  const stateFile = at(".pulumi", "stacks", "shop", "prod.json");
  shellScript(
    at("pulumi"),
    `cd ${folder}; echo "$*" >> asked; n=$(grep -c "stack export" asked)`,
    `killed() { [ -e "$1" ] && [ "$(wc -l < asked)" -ge "$(cat "$1")" ]; }; killed before && exit 137`,
    `case "$*" in`,
    `version*) echo v3.259.0;;`,
    `whoami*) echo '{"url":"${backend ?? `file://${folder}`}"}';;`,
    `"stack --show-name"*) echo prod;;`,
    `"stack ls"*) echo '[{"name":"prod","current":true,"updateInProgress":false}]';;`,
    `"config"*) echo '{}';;`,
    `"preview"*) cat preview.json;;`,
    `"stack export"*) [ -e "then-$n" ] && mv "then-$n" ${stateFile};`,
    `  [ -e "lock-$n" ] && mv "lock-$n" ${locks}/1.json;`,
    `  [ -e ${stateFile}.attrs ] && { echo "error: failed to load checkpoint: EOF" >&2; exit 255; }`,
    `  case "$*" in *--show-secrets*) cat ${stateFile};; *) sed 's/"plaintext":/"ciphertext":/g' ${stateFile};; esac;;`,
    `"stack import"*) sed 's/"ciphertext":/"plaintext":/g' > new.json; mv new.json ${stateFile};;`,
    `"cancel"*) rm -rf ${locks};;`,
    `*) exit 1;; esac; rc=$?; killed after && exit 137; exit $rc`,
  );
  const document = (operations: readonly JsonObject[]): string => {
    const root = {
      urn: "urn:pulumi:prod::shop::pulumi:pulumi:Stack::shop-prod",
      type: "pulumi:pulumi:Stack",
    };
    const resources = [root, ...stack.state].map(asPulumiKeeps);
    const deployment = { resources, pending_operations: operations.map(asPulumiKeeps) };
    return JSON.stringify({ version: 3, deployment });
  };
  const env: NodeJS.ProcessEnv = {
    ...emulatorEnvironment(stack.control.emulator),
    ...withoutPace,
    PATH: `${folder}:/bin:/usr/bin`,
    XDG_CACHE_HOME: at("cache"),
  };
  const options = { folder, env };
  return {
    ...stack,
    owner: `${ownershipOf("prod")}/`,
    folder,
    locks,
    stateFile,
    options,
    /** Writes the state: what was made, and what a run began. */
    write: (...operations: JsonObject[]): void => writeFileSync(stateFile, document(operations)),
    /** At the export of that number, counted from 1, the state has become this. */
    writeThen: (look: number, ...operations: JsonObject[]): void =>
      writeFileSync(at(`then-${look}`), document(operations)),
    /** At that export a run has begun, with this lock. */
    lockThen: (look: number, content: unknown): void =>
      writeFileSync(at(`lock-${look}`), JSON.stringify(content)),
    lock: (content: unknown, name = "1.json"): void =>
      writeFileSync(
        join(locks, name),
        typeof content === "string" ? content : JSON.stringify(content),
      ),
    /** From that question to Pulumi on, counted from 1, nothing answers: before it has done anything, or after. */
    killedAt: (question: number, moment: "before" | "after"): void =>
      writeFileSync(at(moment), String(question)),
    alive: (): void => {
      for (const moment of ["before", "after"]) rmSync(at(moment), { force: true });
    },
    unlock: (): void => rmSync(join(locks, "1.json"), { force: true }),
    /** The newest of what was made, taken out of the state. */
    popped: (): JsonObject => {
      const last = stack.state.pop();
      if (!last) throw new Error("nothing was made");
      return last;
    },
    deployment: () => JSON.parse(readFileSync(stateFile, "utf8")).deployment,
    asked: (): string[] => readFileSync(at("asked"), "utf8").split("\n").slice(0, -1),
    /** Every file of the backend and the project with its bytes. */
    bytes: (): Readonly<Record<string, string>> =>
      Object.fromEntries(
        readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.name !== "asked")
          .map(({ parentPath, name }) => join(parentPath, name))
          .filter((path) => !path.startsWith(at("cache")))
          .map((path) => [path, readFileSync(path, "base64")]),
      ),
    repair: (more: RepairOptions = {}) => runRepair({ ...options, ...more }),
  };
};

export type StackSandbox = Awaited<ReturnType<typeof stackSandbox>>;
