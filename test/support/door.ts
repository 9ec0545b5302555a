import type { Definition } from "../../provider/definition/define.js";
import { changeFieldSecrets, fieldsWithSecrets } from "../../provider/definition/fields.js";
import { filledTexts, isObject, type JsonObject } from "../../provider/kernel/json.js";
import {
  ownerParts,
  pluginToken,
  secretSignature,
  unknownValue,
  urnOf,
} from "../../provider/kernel/pulumi.js";
import { type Lifecycle, lifecycle } from "../../provider/lifecycle/index.js";
import type { Run } from "../../provider/lifecycle/run.js";
import { messages, valuesOf } from "../../provider/plugin/protocol.js";
import { resourceMethods } from "../../provider/plugin/resource.js";
import { requestOf } from "./engine-requests.js";

const signature = "4dabf18193072939515e22adb298388d";

/** Values as the engine hands them back: plain JSON, secrets unwrapped, with a pointer to the life cycle. */
export const handedBack = (value: unknown = {}): JsonObject => ({
  __provider: "pointer",
  ...JSON.parse(JSON.stringify(value), (_, member) =>
    isObject(member) && signature in member ? member.value : member,
  ),
});

/** How the engine's calls reach the life cycle. */
export type Door = "dynamic" | "plugin";

/** The door of tests that have but one: DOOR=plugin runs them all through the plugin. */
export const doorOfTests: Door = process.env.DOOR === "plugin" ? "plugin" : "dynamic";

/** Both doors, for claims that are shown through each of them in every run; only the given one with DOOR. */
export const doors: readonly Door[] = process.env.DOOR ? [doorOfTests] : ["dynamic", "plugin"];

/** A life cycle that may also get the inputs in the state, which dynamic resources are not given. */
export interface DoorLifecycle extends Omit<Lifecycle, "diff"> {
  diff(
    id: string,
    olds: JsonObject,
    news: JsonObject,
    oldInputs?: JsonObject,
  ): ReturnType<Lifecycle["diff"]>;
}

interface Message {
  serializeBinary(): Uint8Array;
}

/** A message as the other side gets it: from its bytes. */
const sent = <T extends Message>(
  type: { deserializeBinary(bytes: Uint8Array): T },
  message: T,
): T => type.deserializeBinary(message.serializeBinary());

/**
 * What the classes of dynamic resources report beside the program's values, as the program itself has
 * it: marks on the values, and no name where there is an automatic one.
 */
const asProgram = (definition: Definition, news: JsonObject): JsonObject => {
  const known = fieldsWithSecrets(definition.fields, filledTexts(news.markedSecrets));
  const seal = (value: unknown) => ({ ...secretSignature, value });
  const { autoName, name, ...values } = changeFieldSecrets(known, news, seal);
  return {
    ...values,
    ...(name === undefined || name === autoName ? {} : { name }),
  };
};

/** The life cycle of a kind behind the plugin's methods, every value through the protocol's messages. */
const throughPlugin = (definition: Definition, run: Run): DoorLifecycle => {
  const { kind } = definition;
  const on = (...values: readonly JsonObject[]) => {
    const known = values.map(({ owner }) => owner).find((owner) => typeof owner === "string");
    // The engine gives the plugin a URN also in a stack's first preview.
    const isKnown = known !== undefined && known !== unknownValue;
    const owner = isKnown ? String(known) : `shop/prod/none/${values[0]?.logicalName ?? "x"}`;
    const { ownership } = ownerParts(owner);
    const urn = urnOf(owner, pluginToken(kind));
    // What only the engine's process has is not used by the life cycle itself.
    const methods = resourceMethods(() => ({ run: run, ownership }));
    return { urn, methods };
  };
  return {
    check: async (olds, news) => {
      const { urn, methods } = on(news, olds);
      const { AutonamingOptions } = messages.CheckRequest;
      const request = requestOf(messages.CheckRequest, {
        ...{ Urn: urn, Olds: olds, News: asProgram(definition, news) },
        Autonaming:
          typeof news.autoName === "string"
            ? requestOf(AutonamingOptions, { ProposedName: news.autoName })
            : undefined,
      });
      const answer = await methods.check(sent(messages.CheckRequest, request));
      const response = sent(messages.CheckResponse, answer);
      const failures = response.getFailuresList();
      return {
        inputs: valuesOf(response.getInputs()),
        failures: failures.map((each) => ({
          property: each.getProperty(),
          reason: each.getReason(),
        })),
      };
    },
    diff: async (id, olds, news, oldInputs = olds) => {
      const { urn, methods } = on(news, olds);
      const members = { Id: id, Urn: urn, Olds: olds, OldInputs: oldInputs, News: news };
      const request = requestOf(messages.DiffRequest, members);
      const answer = await methods.diff(sent(messages.DiffRequest, request));
      const changes = sent(messages.DiffResponse, answer).getChanges();
      return { changes: changes === messages.DiffResponse.DiffChanges.DIFF_SOME };
    },
    create: async (inputs) => {
      const { urn, methods } = on(inputs);
      const request = requestOf(messages.CreateRequest, { Urn: urn, Properties: inputs });
      const answer = await methods.create(sent(messages.CreateRequest, request));
      const response = sent(messages.CreateResponse, answer);
      return { id: response.getId(), outs: valuesOf(response.getProperties()) };
    },
    read: async (id, properties) => {
      const { urn, methods } = on(properties);
      const members = { Id: id, Urn: urn, Properties: properties, Inputs: properties };
      const request = requestOf(messages.ReadRequest, members);
      const answer = await methods.read(sent(messages.ReadRequest, request));
      const response = sent(messages.ReadResponse, answer);
      return {
        id: response.getId(),
        props: valuesOf(response.getProperties()),
        ...(response.hasInputs() ? { inputs: valuesOf(response.getInputs()) } : {}),
      };
    },
    update: async (id, olds, news) => {
      const { urn, methods } = on(news, olds);
      const request = requestOf(messages.UpdateRequest, {
        Id: id,
        Urn: urn,
        Olds: olds,
        News: news,
      });
      const answer = await methods.update(sent(messages.UpdateRequest, request));
      return { outs: valuesOf(sent(messages.UpdateResponse, answer).getProperties()) };
    },
    delete: async (id, properties) => {
      const { urn, methods } = on(properties);
      const request = requestOf(messages.DeleteRequest, {
        Id: id,
        Urn: urn,
        Properties: properties,
      });
      await methods.delete(sent(messages.DeleteRequest, request));
    },
  };
};

/** The life cycle of a kind in a run, as the engine's calls reach it. */
export const lifecycleThrough = (door: Door, definition: Definition, run: Run): DoorLifecycle =>
  door === "plugin" ? throughPlugin(definition, run) : lifecycle(definition, run);
