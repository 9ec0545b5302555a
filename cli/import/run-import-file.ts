import type { Definition } from "../../provider/definition/define.js";
import { sameScalar } from "../../provider/definition/meaning.js";
import { nameOnWire } from "../../provider/lifecycle/ownership/mark.js";
import { resources } from "../../provider/resources/index.js";
import type { Collections, WireObject } from "../../provider/service/collections.js";
import { objectInputs } from "../account/object-inputs.js";
import {
  type AccountOptions,
  accessService,
  accountSettings,
  type Say,
} from "../account/open-account.js";
import { CommandFailure } from "../command.js";
import { openStack } from "../stack/open-stack.js";
import { inImportFile } from "./import-entries.js";
import { importOwnership } from "./plan-import.js";
import { assertImports } from "./pulumi-version.js";
import { type Candidate, divided, entryOf, takeOverRefusal } from "./take-over.js";

/** An object to be printed, and the resource that is to stand for it. */
export interface PrintedObject {
  readonly kind: string;
  /** Logical name of the resource. */
  readonly name: string;
  readonly id: string;
  /** Whether `id` is the name of the object at the service. */
  readonly isByName: boolean;
}

export interface ImportFileOptions extends AccountOptions {
  readonly say?: Say;
}

const definitionNamed = (kind: string): Definition => {
  const found = resources.find((each) => each.kind.toLowerCase() === kind.toLowerCase());
  if (found) return found;
  const kinds = resources.map((each) => each.kind).join(", ");
  throw new CommandFailure(`There is no kind ${JSON.stringify(kind)}. Kinds: ${kinds}.`, 2);
};

const byId = async (
  service: Collections,
  definition: Definition,
  id: string,
): Promise<readonly [string, WireObject]> => {
  const wire = await service.read(definition, id);
  if (wire) return [id, wire];
  throw new CommandFailure(
    `There is no ${definition.noun} with the id ${id}. Nothing was printed.`,
  );
};

const byName = async (
  service: Collections,
  definition: Definition,
  name: string,
): Promise<readonly [string, WireObject]> => {
  const { objects } = await service.list(definition);
  const found = [...objects].filter(([, wire]) => sameScalar(nameOnWire(definition, wire), name));
  const [one, ...others] = found;
  if (one && others.length === 0) return one;
  const called = `${definition.noun} with the name ${JSON.stringify(name)}`;
  if (!one) throw new CommandFailure(`There is no ${called}. Nothing was printed.`);
  const ids = found.map(([id]) => id).join(", ");
  throw new CommandFailure(
    `${found.length} objects could be meant by the ${called}: ${ids}. Name the one by its id.`,
  );
};

/** @throws CommandFailure where a resource, or an object, is named twice: Pulumi would take neither */
const assertOnce = (candidates: readonly Candidate[]): void => {
  const names = candidates.flatMap(({ object: { definition, id }, logical }) => [
    `${definition.kind} ${logical}`,
    `${definition.kind} with the id ${id}`,
  ]);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined)
    throw new CommandFailure(`${twice} is named twice. Nothing was printed.`, 2);
};

/**
 * The import file of these objects, as `pulumi import --file` reads it. One call to the service for each;
 * nothing is written to it.
 *
 * @throws CommandFailure where Pulumi is too old, no object or several are meant, or one may not be taken
 *   over; ConversationError where one cannot be read
 */
export const runImportFile = async (
  named: readonly PrintedObject[],
  options: ImportFileOptions,
): Promise<string> => {
  const wanted = named.map((each) => ({ ...each, definition: definitionNamed(each.kind) }));
  const stack = await openStack(options);
  await assertImports(stack.place, "file");
  const settings = await accountSettings(options);
  const { env = process.env, signal, clock, profile, say = () => undefined } = options;
  const access = accessService(settings, { environment: env, say, clock, signal });
  try {
    const candidates: Candidate[] = [];
    for (const { definition, name: logical, id, isByName } of wanted) {
      const find = isByName ? byName : byId;
      const [found, wire] = await find(access.service, definition, id);
      candidates.push({ object: objectInputs(definition, found, wire, settings), logical });
    }
    assertOnce(candidates);
    // After the objects: what a run takes over in between is held by then.
    const states = await stack.readStates("all");
    const { left } = divided(candidates, states);
    if (left.length > 0) throw takeOverRefusal(left, "Correct that first.", "Nothing was printed");
    const { ownership, first } = importOwnership({ names: stack.names, states });
    const entries = candidates.map((candidate) =>
      entryOf(candidate, { ownership, ...(profile ? { profile } : {}) }),
    );
    return inImportFile([...first, ...entries]);
  } finally {
    await access.close();
  }
};
