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
import { divided, entryOf, takeOverRefusal } from "./take-over.js";

export interface ImportFileOptions extends AccountOptions {
  readonly kind: string;
  /** Logical name of the resource. */
  readonly name: string;
  /** Id of the object; left out where it is found by its name. */
  readonly id?: string;
  /** Name of the object at the service. */
  readonly byName?: string;
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

/**
 * The import file of one object, as `pulumi import --file` reads it. One call to the service; nothing is
 * written to it.
 *
 * @throws CommandFailure where Pulumi is too old, no object or several are meant, or it may not be taken
 *   over; ConversationError where it cannot be read
 */
export const runImportFile = async (options: ImportFileOptions): Promise<string> => {
  const definition = definitionNamed(options.kind);
  const stack = await openStack(options);
  await assertImports(stack.place, "file");
  const settings = await accountSettings(options);
  const { env = process.env, signal, clock, name: logical, id, profile } = options;
  const { say = () => undefined } = options;
  const access = accessService(settings, env, say, clock, signal);
  try {
    const [found, wire] = await (id === undefined
      ? byName(access.service, definition, options.byName ?? logical)
      : byId(access.service, definition, id));
    const candidate = { object: objectInputs(definition, found, wire, settings), logical };
    // After the object: what a run takes over in between is held by then.
    const states = await stack.readStates("all");
    const { left } = divided([candidate], states);
    if (left.length > 0) throw takeOverRefusal(left, "Correct that first.", "Nothing was printed");
    const { ownership, first } = importOwnership({ names: stack.names, states });
    const entry = entryOf(candidate, { ownership, ...(profile ? { profile } : {}) });
    return inImportFile([...first, entry]);
  } finally {
    await access.close();
  }
};
