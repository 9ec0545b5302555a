import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { driftIn } from "../../../cli/drift/drift.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { entryOf } from "../../../cli/import/import-entries.js";
import { type Inventory, inventoryOf } from "../../../cli/inventory/inventory.js";
import { objectInputs } from "../../../cli/inventory/object-inputs.js";
import { readAccount } from "../../../cli/inventory/read-account.js";
import { openedSecrets, stackExportIn, stateValue } from "../../../cli/pulumi/stack-documents.js";
import { stackStateOf, statesOf } from "../../../cli/pulumi/stack-states.js";
import { type RepairOptions, runRepair } from "../../../cli/repair/repair.js";
import { type EmulatorOptions, startEmulator } from "../../../emulator/index.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { typeToken } from "../../../provider/kernel/pulumi.js";
import { lifecycle } from "../../../provider/lifecycle/index.js";
import { createRun } from "../../../provider/lifecycle/run.js";
import { waitOutRefusals } from "../../../provider/pacing/pacer.js";
import { resources } from "../../../provider/resources/index.js";
import { connectService } from "../../../provider/service/connect.js";
import { kindOf } from "../../emulator/running.js";
import { withoutPace } from "../../support/cli-project.js";
import { handedBack } from "../../support/door.js";
import { settingsOf } from "../../support/emulated.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { bound, formsOf } from "../../support/forms.js";
import { shellScript, temporaryFolder } from "../../support/temporary-folder.js";
import { ownershipOf } from "../stack-documents.js";

const names = { project: "shop", stack: "prod" };
const urnOf = (kind: string, name: string): string =>
  `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`;

const special = "4dabf18193072939515e22adb298388d";

export const pulumiSecret = (value: unknown): JsonObject => ({
  [special]: "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

const holdsSecret = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(holdsSecret)
    : isObject(value) && (special in value || Object.values(value).some(holdsSecret));

/** One secret inside a list makes a secret of the whole list. */
const asPulumiKeeps = (value: unknown): unknown => {
  if (Array.isArray(value))
    return holdsSecret(value) ? pulumiSecret(openedSecrets(value)) : value.map(asPulumiKeeps);
  if (!isObject(value) || special in value) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, asPulumiKeeps(member)]),
  );
};

/** A stack with objects that the life cycle made at an emulator, and its state. */
export const managedStack = async (
  switches: EmulatorOptions["switches"] = {},
  more: EmulatorOptions = {},
) => {
  const emulator = await startEmulator({ switches, ...more });
  onTestFinished(() => emulator.close());
  const control = new EmulatorControl(emulator);
  const settings = settingsOf(emulator, withoutPace);
  const open = () => {
    const service = connectService(settings, { pace: waitOutRefusals() });
    onTestFinished(() => service.close());
    const guarded = <T>(_: unknown, work: () => Promise<T>): Promise<T> => work();
    return { settings, service, guarded, close: async () => undefined };
  };
  const maker = open();
  const run = createRun(async () => maker);
  const state: JsonObject[] = [
    { urn: urnOf("Ownership", "ownership"), type: typeToken("Ownership"), id: ownershipOf("prod") },
  ];
  /** Makes what a program declares, as `up` does. */
  const up = async (
    kind: string,
    name: string,
    fields: JsonObject,
    ofRun = run,
  ): Promise<string> => {
    const owner = `${ownershipOf("prod")}/${name}`;
    const cycle = lifecycle(kindOf(kind), ofRun);
    const { inputs, failures } = await cycle.check({}, { ...fields, owner });
    if (failures.length > 0) throw new Error(JSON.stringify(failures));
    const { id, outs } = await cycle.create(handedBack(inputs));
    const values = { inputs: stateValue(inputs), outputs: stateValue(outs) };
    state.push({ urn: urnOf(kind, name), type: typeToken(kind), id, ...values });
    return id;
  };
  /** One object of each form of every kind, complete or not. */
  const upForms = async (isGiven: () => boolean): Promise<void> => {
    const ids = new Map<string, string>();
    for (const { definition, name, values } of resources.flatMap(formsOf)) {
      const { kind, fields, rule } = definition;
      const chosen = rule && "exactlyOne" in rule ? Object.values(rule.exactlyOne) : [];
      const given = Object.entries(values).filter(
        ([member]) => fields[member]?.required || chosen.includes(member) || isGiven(),
      );
      const resolved = bound(Object.fromEntries(given), (other) => ids.get(other));
      ids.set(kind, await up(kind, name, resolved as JsonObject));
    }
  };
  const inventory = async (): Promise<Inventory> => {
    const text = JSON.stringify({ version: 3, deployment: { resources: state } });
    const document = stackExportIn(text);
    if (!document) throw new Error("no state");
    const own = stackStateOf(document, true);
    const access = open();
    const accounts = [{ names: [undefined], access, reading: await readAccount(access) }];
    const run = createRun(async () => access);
    const states = statesOf(own, [], true);
    const lock = { state: "free" } as const;
    return inventoryOf({ names, document, lock, states, accounts, runIn: () => run });
  };
  return {
    ...{ emulator, control, settings, state, up, upForms },
    /** What another run makes, which knows nothing of the ones before. */
    upAnew: (kind: string, name: string, fields: JsonObject): Promise<string> => {
      const anew = createRun(async () => open());
      return up(kind, name, fields, anew);
    },
    /** Puts into the state what an import of everything that is there would, in the place of what runs wrote. */
    importAll: async (): Promise<void> => {
      const ownership = ownershipOf("prod");
      const { kinds } = await inventory();
      const imported = kinds.flatMap(({ definition, objects }) =>
        [...objects].map(([id, wire]) => {
          const object = objectInputs(definition, id, wire, settings);
          const entry = entryOf({ object, logical: id }, { ownership });
          const { type, name, inputs, outputs } = entry;
          return { urn: urnOf(definition.kind, name), type, id, inputs, outputs };
        }),
      );
      state.splice(1, state.length, ...imported);
    },
    /** Makes a secret of one property of every resource, as the state has it where a program says so. */
    sealInState: (property: string): void => {
      const sealed = state.map((resource) => {
        const { inputs, outputs } = resource;
        if (!isObject(inputs) || !isObject(outputs)) return resource;
        const secret = { [property]: pulumiSecret(outputs[property]) };
        return {
          ...resource,
          inputs: { ...inputs, ...secret },
          outputs: { ...outputs, ...secret },
        };
      });
      state.splice(0, state.length, ...sealed);
    },
    drift: async () => driftIn(await inventory(), {}),
    /** Changes what the service holds. @returns whether that is something that it may hold */
    edit: async (change: (objects: Record<string, Record<string, unknown>[]>) => void) => {
      const snapshot = (await control.control("GET", "/snapshot")) as {
        objects: Record<string, Record<string, unknown>[]>;
      };
      change(snapshot.objects);
      return control.control("PUT", "/snapshot", snapshot).then(
        () => true,
        () => false,
      );
    },
  };
};

/** Something that a run began and did not report on. */
export const pending = (type: string, resource: JsonObject): JsonObject => {
  const { id: _, outputs: __, ...begun } = resource;
  return { type, resource: type === "creating" ? begun : resource };
};

interface SandboxOptions {
  readonly emulator?: EmulatorOptions;
  /** Default: the folder of the sandbox, whose locks can be seen. */
  readonly backend?: string;
  /** What `pulumi stack export` prints of a second stack. */
  readonly other?: string;
}

/**
 * A stack with real objects at an emulator, and a program that stands for Pulumi: it keeps the state in a
 * file backend, logs what it is asked, and changes the state as Pulumi would.
 */
export const stackSandbox = async ({ emulator, other, backend }: SandboxOptions = {}) => {
  const stack = await managedStack({}, emulator);
  const folder = temporaryFolder();
  const at = (...path: string[]): string => join(folder, ...path);
  const locks = at(".pulumi", "locks", "organization", "shop", "prod");
  for (const path of [locks, at(".pulumi", "stacks", "shop"), at("cache")])
    mkdirSync(path, { recursive: true });
  const stacks = (other === undefined ? ["prod"] : ["prod", "other"]).map((name) => ({
    ...{ name, current: name === "prod", updateInProgress: false },
  }));
  for (const [name, text] of Object.entries({
    "Pulumi.yaml": "name: shop\nruntime: nodejs\n",
    "stacks.json": JSON.stringify(stacks),
    "config.json": "{}",
    "other.json": other ?? "",
    asked: "",
  }))
    writeFileSync(at(name), text);
  const stateFile = at(".pulumi", "stacks", "shop", "prod.json");
  shellScript(
    at("pulumi"),
    `cd ${folder}; echo "$*" >> asked; n=$(grep "stack export" asked | grep -vc -e "--stack other")`,
    `killed() { [ -e "$1" ] && [ "$(wc -l < asked)" -ge "$(cat "$1")" ]; }; killed before && exit 137`,
    `case "$*" in`,
    `version*) echo v3.259.0;;`,
    `whoami*) echo '{"url":"${backend ?? `file://${folder}`}"}';;`,
    `"stack --show-name"*) echo organization/shop/prod;;`,
    `"stack ls"*) cat stacks.json;;`,
    `"config"*"--stack prod"*) cat config.json;;`,
    `"config"*) echo '{}';;`,
    `*"--stack other"*) cat other.json;;`,
    `"stack export"*) [ -e "then-$n" ] && mv "then-$n" ${stateFile};`,
    `  [ -e "lock-$n" ] && mv "lock-$n" ${locks}/1.json;`,
    `  case "$*" in *--show-secrets*) cat ${stateFile};; *) sed 's/"plaintext":/"ciphertext":/g' ${stateFile};; esac;;`,
    `"stack import"*) cat > new.json; mv new.json ${stateFile};;`,
    `"import"*) echo 'error: the disk is full' >&2; exit 255;;`,
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
  const place = { folder, env };
  return {
    ...stack,
    ...{ folder, locks, stateFile, options: place },
    /** Writes the state: what was made, and what a run began. */
    write: (...operations: JsonObject[]): void => writeFileSync(stateFile, document(operations)),
    writeOther: (text: string): void => writeFileSync(at("other.json"), text),
    /** At the export of that number, counted from 1, the state has become this. */
    writeThen: (look: number, ...operations: JsonObject[]): void =>
      writeFileSync(at(`then-${look}`), document(operations)),
    /** At that export a run has begun, with this lock. */
    lockThen: (look: number, content: unknown): void =>
      writeFileSync(at(`lock-${look}`), JSON.stringify(content)),
    lock: (content: unknown): void => {
      const text = typeof content === "string" ? content : JSON.stringify(content);
      writeFileSync(join(locks, "1.json"), text);
    },
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
    repair: (more: RepairOptions = {}) => runRepair({ ...place, ...more }),
  };
};

export type StackSandbox = Awaited<ReturnType<typeof stackSandbox>>;
