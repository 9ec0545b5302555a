import { isDeepStrictEqual } from "node:util";
import type * as Messages from "@pulumi/pulumi/proto/provider_pb.js";
import { autoName } from "../definition/automatic-name.js";
import { isThere } from "../definition/changes.js";
import { type Definition, outputFields } from "../definition/define.js";
import { markedSecrets } from "../definition/fields.js";
import { type FoundBy, foundId, searchFault } from "../definition/found-object.js";
import { namingOf } from "../definition/kinds.js";
import { sameValue } from "../definition/meaning.js";
import { ConversationError } from "../kernel/errors.js";
import { filledText, type JsonObject, memberOf, objectOf } from "../kernel/json.js";
import {
  kindOfToken,
  ownerOf,
  ownerParts,
  parentsIn,
  typeToken,
  unknownValue,
  urnParts,
} from "../kernel/pulumi.js";
import { lifecycle } from "../lifecycle/index.js";
import { openSession } from "../lifecycle/resource.js";
import type { Run } from "../lifecycle/run.js";
import { resources } from "../resources/index.js";
import { Empty, messages, structOf, valuesOf } from "./protocol.js";
import { type GivenInputs, givenInputs, plainValues } from "./values.js";

/** What a provider's configuration determines for its process. */
export interface ConfiguredRun {
  readonly run: Run;
  /** The owner of new resources. */
  readonly ownership: string | undefined;
}

const definitionOf = (type: string): Definition => {
  const definition = resources.find(({ kind }) => kind === kindOfToken(type));
  if (definition) return definition;
  throw new ConversationError(
    "INPUT_INVALID",
    `This release of pulumi-conversation has no resource ${type}. Install the release that wrote the state or the program's SDK, or a newer one.`,
  );
};

/**
 * Types of a resource's parents as dynamic resources have them in their URNs, so that names and
 * owners are the same through either door.
 */
const parentTypes = (urn: string): string =>
  parentsIn(urn).replaceAll(/conversation:index:(\w+)\$/g, (type, kind: string) =>
    resources.some((definition) => definition.kind === kind) ? `${typeToken(kind)}$` : type,
  );

/**
 * The owner of a resource. Its object stays with the ownership that it was created under, also after
 * a change of the plugin's version or a move from dynamic resources; one that `pulumi state move`
 * brought from another stack gets that of its new provider.
 */
const ownerBy = (
  urn: string,
  configured: string | undefined,
  inputs: JsonObject,
): string | undefined => {
  const { project, stack, name } = urnParts(urn);
  const known = filledText(inputs.owner);
  const former = known ? ownerParts(known) : undefined;
  const stays =
    former !== undefined &&
    (configured === undefined || (former.project === project && former.stack === stack));
  const ownership = stays ? former.ownership : configured;
  return ownership && ownerOf(ownership, parentTypes(urn), name);
};

/** What the lifecycle wants to know beside the program's own inputs. */
const addedInputs = (
  urn: string,
  definition: Definition,
  owner: string | undefined,
  { values, marked }: GivenInputs,
): JsonObject => {
  const { key, isAutomatic } = namingOf(definition);
  const isNamed = values[key] !== undefined && values[key] !== null;
  const naming = { kind: definition.kind, owner: owner ?? "", name: urnParts(urn).name };
  const name = isAutomatic && !isNamed ? autoName(naming) : undefined;
  return objectOf([
    ["owner", owner],
    ["autoName", name],
    ...(name === undefined ? [] : [[key, name] as const]),
    ["markedSecrets", markedSecrets(definition.fields, marked)],
  ]);
};

/** Values of the lifecycle that no program gives. */
const reserved = ["owner", "autoName", "markedSecrets", "imported", "__provider"];

/** Returns the answer to a check: the inputs, and the rules that they break. */
export const checkResponse = (
  inputs: JsonObject,
  failures: readonly string[],
): Messages.CheckResponse => {
  const response = new messages.CheckResponse();
  response.setInputs(structOf(inputs));
  for (const reason of failures) {
    // No property: the engine would print its value, and a secret inside it.
    const failure = new messages.CheckFailure();
    failure.setReason(reason);
    response.addFailures(failure);
  }
  return response;
};

/** The values in the state; an imported object has an owner in its inputs only. */
const heldValues = (outputs: JsonObject, inputs: JsonObject): JsonObject =>
  inputs.owner === undefined ? outputs : { owner: inputs.owner, ...outputs };

const { ADD, DELETE, UPDATE } = messages.PropertyDiff.Kind;

/**
 * Returns the properties whose meaning to the service differs between two declarations of a
 * resource, and how they change. For example, a different order in an unordered list is not a
 * change. Includes the resource's options. Pulumi itself shows what differs inside a property.
 */
const propertyChanges = (
  { fields }: Definition,
  before: JsonObject,
  after: JsonObject,
): ReadonlyMap<string, Messages.PropertyDiff.Kind> => {
  const changes = new Map<string, Messages.PropertyDiff.Kind>();
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [memberOf(before, name), memberOf(after, name)];
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (isDeepStrictEqual(from, to) || (field && sameValue(field, from, to))) continue;
    if (isThere(from)) changes.set(name, isThere(to) ? UPDATE : DELETE);
    else if (isThere(to)) changes.set(name, ADD);
  }
  changes.delete("__provider");
  return changes;
};

/** Outputs that nobody knows before the service has answered. */
const unknownOutputs = (names: readonly string[]): JsonObject =>
  objectOf(names.map((name) => [name, unknownValue]));

/** Returns the protocol methods for resources, implemented with the lifecycle. */
export const resourceMethods = (configured: () => ConfiguredRun) => {
  const of = (request: { getUrn(): string }) => {
    const { run, ownership } = configured();
    const urn = request.getUrn();
    const definition = definitionOf(urnParts(urn).type);
    const owner = (inputs: JsonObject) => ownerBy(urn, ownership, inputs);
    return { definition, life: lifecycle(definition, run), owner, run };
  };

  /** The owner to be of an object that is looked up: of any of the stack, where none is configured. */
  const nextOwner = (urn: string): string | undefined => {
    const { project, stack } = urnParts(urn);
    return ownerBy(urn, configured().ownership ?? `${project}/${stack}/`, {});
  };

  /** Why the object of a resource that was imported, and never checked since, is not the resource's. */
  const importRefusal = async (
    request: { getUrn(): string },
    { imported }: JsonObject,
  ): Promise<string | undefined> => {
    const id = filledText(imported);
    return id && of(request).life.importRefusal(id, nextOwner(request.getUrn()));
  };

  const check = async (request: Messages.CheckRequest): Promise<Messages.CheckResponse> => {
    const { definition, life, owner } = of(request);
    const olds = plainValues(valuesOf(request.getOlds()));
    // `pulumi import` imports in spite of failures, but not of an error.
    const refusal = await importRefusal(request, olds);
    if (refusal) throw new ConversationError("OWNED_ELSEWHERE", refusal);
    const news = Object.entries(valuesOf(request.getNews()));
    const program = objectOf(news.filter(([name]) => !reserved.includes(name)));
    const given = givenInputs(definition, program);
    if (given.faults.length > 0) return checkResponse(program, given.faults);
    const added = addedInputs(request.getUrn(), definition, owner(olds), given);
    const { inputs, failures } = await life.check(olds, { ...given.values, ...added });
    return checkResponse(
      inputs,
      failures.map(({ reason }) => reason),
    );
  };

  const diff = async (request: Messages.DiffRequest): Promise<Messages.DiffResponse> => {
    const { definition, life } = of(request);
    const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
    const inputs = plainValues(valuesOf(request.getOldInputs()));
    const outputs = plainValues(valuesOf(request.getOlds()));
    const news = plainValues(valuesOf(request.getNews()));
    // An imported object becomes ours with its next change, and not by itself.
    const held = { owner: news.owner, ...heldValues(outputs, inputs) };
    // The pointer of dynamic resources: without it the lifecycle would write an old state anew.
    const { changes } = await life.diff(request.getId(), { __provider: "", ...held }, news);
    const response = new messages.DiffResponse();
    const byInputs = propertyChanges(definition, changes === false ? news : inputs, news);
    const isByInputs = byInputs.size > 0 || !changes;
    const found = isByInputs ? byInputs : propertyChanges(definition, outputs, news);
    response.setChanges(changes || byInputs.size > 0 ? DIFF_SOME : DIFF_NONE);
    response.setHasdetaileddiff(true);
    for (const [name, kind] of found) {
      const change = new messages.PropertyDiff();
      change.setKind(kind);
      change.setInputdiff(isByInputs);
      response.getDetaileddiffMap().set(name, change);
    }
    response.setDiffsList([...found.keys()]);
    response.setStablesList(["created"]);
    return response;
  };

  const create = async (request: Messages.CreateRequest): Promise<Messages.CreateResponse> => {
    const { life } = of(request);
    const given = valuesOf(request.getProperties());
    const response = new messages.CreateResponse();
    if (request.getPreview()) {
      response.setProperties(structOf({ ...given, ...unknownOutputs(Object.keys(outputFields)) }));
      return response;
    }
    if (given.owner === undefined)
      throw new ConversationError(
        "INPUT_INVALID",
        "The state contains no ownership record for the provider, so the object would have no known owner. Nothing was sent. Run pulumi up again, without --target.",
      );
    const { id, outs } = await life.create(plainValues(given));
    response.setId(id);
    response.setProperties(structOf(outs));
    return response;
  };

  /**
   * A `get`, the check of `exists`, and the first step of an import are one message: only an import
   * is followed by a check, which finds the ID in the inputs.
   */
  const read = async (request: Messages.ReadRequest): Promise<Messages.ReadResponse> => {
    const { life } = of(request);
    const inputs = plainValues(valuesOf(request.getInputs()));
    const properties = plainValues(valuesOf(request.getProperties()));
    const isLookup = Object.keys(properties).length === 0;
    const found = isLookup
      ? await life.lookUp(request.getId(), nextOwner(request.getUrn()))
      : await life.read(request.getId(), heldValues(properties, inputs));
    const response = new messages.ReadResponse();
    // An answer without properties says that there is no such object.
    if (found.id === "") return response;
    response.setId(found.id);
    response.setProperties(structOf(found.props));
    const imported = isLookup ? found.id : inputs.imported;
    if (found.inputs) response.setInputs(structOf({ ...found.inputs, imported }));
    return response;
  };

  const update = async (request: Messages.UpdateRequest): Promise<Messages.UpdateResponse> => {
    const { life } = of(request);
    const inputs = plainValues(valuesOf(request.getOldInputs()));
    const olds = plainValues(valuesOf(request.getOlds()));
    const given = valuesOf(request.getNews());
    const response = new messages.UpdateResponse();
    if (request.getPreview()) {
      const kept = objectOf(Object.keys(outputFields).map((name) => [name, olds[name]]));
      response.setProperties(structOf({ ...kept, ...given, ...unknownOutputs(["modified"]) }));
      return response;
    }
    const { outs } = await life.update(
      request.getId(),
      heldValues(olds, inputs),
      plainValues(given),
    );
    response.setProperties(structOf(outs));
    return response;
  };

  const remove = async (request: Messages.DeleteRequest) => {
    const { life, owner, run } = of(request);
    const inputs = plainValues(valuesOf(request.getOldInputs()));
    const properties = plainValues(valuesOf(request.getProperties()));
    // With `up --skip-preview`, a refused import is in the state by the time it is checked.
    const refusal = await importRefusal(request, inputs);
    if (refusal) run.notify?.(`Nothing was deleted: ${refusal}`, "warning");
    else
      await life.delete(request.getId(), {
        ...(inputs.imported ? { owner: owner({}) } : {}),
        ...heldValues(properties, inputs),
      });
    return new Empty();
  };

  /** `conversation:index:find<Kind>`: the object with these texts. */
  const invoke = async (request: Messages.InvokeRequest): Promise<Messages.InvokeResponse> => {
    const { run } = configured();
    const definition = definitionOf(request.getTok().replace(/:find(?=[^:]*$)/, ":"));
    const { profile, ...where } = plainValues(valuesOf(request.getArgs()));
    const fault = searchFault(definition, where);
    if (fault !== undefined) throw new ConversationError("INPUT_INVALID", fault);
    const account = filledText(profile);
    const { service } = await openSession(run, account);
    const id = foundId(await service.list(definition), definition, where as FoundBy, account);
    const { props } = await lifecycle(definition, run).read(
      id,
      account ? { profile: account } : {},
    );
    const response = new messages.InvokeResponse();
    response.setReturn(structOf({ ...props, id }));
    return response;
  };

  return { check, diff, create, read, update, delete: remove, invoke };
};
