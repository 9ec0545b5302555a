import { onTestFinished } from "vitest";
import { objectInputs } from "../../../cli/account/object-inputs.js";
import { readAccount } from "../../../cli/account/read-account.js";
import { driftOf } from "../../../cli/compare/drift.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { entryOf } from "../../../cli/import/import-entries.js";
import type { StackReading } from "../../../cli/stack/stack-reading.js";
import { startEmulator } from "../../../emulator/index.js";
import { fieldsFromWire, naturalKey } from "../../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../../provider/kernel/json.js";
import { lifecycle } from "../../../provider/lifecycle/index.js";
import { createRun } from "../../../provider/lifecycle/run.js";
import { typeToken } from "../../../provider/pointer.js";
import { stackExportIn, stateValue } from "../../../provider/pulumi-cli/stack-documents.js";
import { stateIn, statesOf } from "../../../provider/pulumi-cli/stack-states.js";
import { resources } from "../../../provider/resources/index.js";
import { connectService } from "../../../provider/service/connect.js";
import { readSettings } from "../../../provider/service/settings.js";
import { samples } from "../../emulator/field-cases.js";
import { withoutPace } from "../../support/cli-project.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { ownershipOf } from "../stack-documents.js";

const names = { project: "shop", stack: "prod" };
const urnOf = (kind: string, name: string): string =>
  `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`;

const pulumiSecret = (value: unknown): JsonObject => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  plaintext: JSON.stringify(value),
});

/** A stack with objects that the life cycle made at an emulator, and its state. */
export const managedStack = async (switches: Readonly<Record<string, string>> = {}) => {
  const emulator = await startEmulator({ switches });
  onTestFinished(() => emulator.close());
  const control = new EmulatorControl(emulator);
  const settings = readSettings({
    environment: { ...emulatorEnvironment(emulator), ...withoutPace },
    config: () => undefined,
  });
  const open = () => {
    const service = connectService(settings);
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
    const definition = resources.find((each) => each.kind === kind);
    if (!definition) throw new Error(kind);
    const owner = `${ownershipOf("prod")}/${name}`;
    const cycle = lifecycle(definition, ofRun);
    const { inputs, failures } = await cycle.check({}, { ...fields, owner });
    if (failures.length > 0) throw new Error(JSON.stringify(failures));
    const plain = JSON.parse(JSON.stringify(inputs), (_, value) =>
      value !== null && typeof value === "object" && "4dabf18193072939515e22adb298388d" in value
        ? value.value
        : value,
    );
    const { id, outs } = await cycle.create({ ...plain, __provider: "p" });
    const values = { inputs: stateValue(inputs), outputs: stateValue(outs) };
    state.push({ urn: urnOf(kind, name), type: typeToken(kind), id, ...values });
    return id;
  };
  /** One object of each kind for each way in which its members may stand together, complete or not. */
  const upSamples = async (isGiven: () => boolean): Promise<void> => {
    const ids = new Map<string, string>();
    for (const definition of resources)
      for (const body of samples(definition, ids)) {
        const all = fieldsFromWire(definition.fields, body, settings);
        const needed = new Set(
          definition.rule && "exactlyOne" in definition.rule
            ? Object.values(definition.rule.exactlyOne)
            : [],
        );
        const fields = Object.fromEntries(
          Object.entries(all).filter(
            ([name]) => definition.fields[name]?.required || needed.has(name) || isGiven(),
          ),
        );
        const name = `r${state.length}`;
        ids.set(
          definition.kind,
          await up(definition.kind, name, { ...fields, [naturalKey(definition)]: `n-${name}` }),
        );
      }
  };
  const reading = async (): Promise<StackReading> => {
    const text = JSON.stringify({ version: 3, deployment: { resources: state } });
    const [document, own] = [stackExportIn(text), stateIn(text, true)];
    if (!document || !own) throw new Error("no state");
    const access = open();
    const account = { access, reading: await readAccount(access) };
    return {
      document,
      states: statesOf(own, [], true),
      accounts: [account],
      accountOf: () => account,
      run: createRun(async () => access),
    };
  };
  return {
    control,
    definitions: resources,
    settings,
    state,
    up,
    /** What another run makes, which knows nothing of the ones before. */
    upAnew: (kind: string, name: string, fields: JsonObject): Promise<string> =>
      up(
        kind,
        name,
        fields,
        createRun(async () => open()),
      ),
    upSamples,
    /** Puts into the state what an import of everything that is there would, in the place of what runs wrote. */
    importAll: async (withSecrets: boolean): Promise<void> => {
      const ownership = ownershipOf("prod");
      const { accounts } = await reading();
      const lists = accounts.flatMap(({ reading: { kinds } }) => kinds);
      const imported = lists.flatMap(({ definition, objects }) =>
        [...objects].map(([id, wire]) => {
          const object = objectInputs(definition, id, wire, settings);
          const { type, name, inputs, outputs } = entryOf(
            { object, logical: id },
            { ownership, withSecrets },
          );
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
        const secret = pulumiSecret(outputs[property]);
        return {
          ...resource,
          inputs: { ...inputs, [property]: secret },
          outputs: { ...outputs, [property]: secret },
        };
      });
      state.splice(0, state.length, ...sealed);
    },
    drift: async () => driftOf(await reading(), names, false),
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
