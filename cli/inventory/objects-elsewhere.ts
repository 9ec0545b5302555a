import { isConversationError } from "../../provider/kernel/errors.js";
import { isId } from "../../provider/kernel/object-id.js";
import type { Service } from "../../provider/service/connect.js";
import { setUpOperation } from "../../provider/service/operations.js";
import type { Settings } from "../../provider/service/settings.js";
import {
  accountIn,
  heldObjects,
  logicalName,
  type StateResource,
} from "../pulumi/stack-documents.js";
import { askService } from "./open-account.js";
import type { AccountName } from "./stack-accounts.js";

/** One object may have been deleted by hand; this many of different kinds hardly. */
const mostAsked = 3;

/** Objects of an account that are worth checking: of different kinds if possible. */
const chooseExamples = (held: readonly StateResource[], account: AccountName) => {
  const own = heldObjects(held).filter(
    ({ id, resource }) => isId(id) && accountIn(resource) === account,
  );
  const kinds = new Map(own.map((object) => [object.definition, object]));
  return [...new Set([...kinds.values(), ...own])].slice(0, mostAsked);
};

/** Whether an object exists. A 404 is trusted, as it leads to a sentence, not to a deletion. */
const exists = async (
  { request }: Service,
  { definition, id }: ReturnType<typeof chooseExamples>[number],
): Promise<boolean> => {
  try {
    await request(setUpOperation(definition, "get"), { id });
    return true;
  } catch (error) {
    if (isConversationError(error, "NOT_FOUND")) return false;
    throw error;
  }
};

/** Whether a state and the settings match. */
interface StateStanding {
  /** How many objects were checked, at most three. */
  readonly asked: number;
  /** Absent if at least one exists, or there is none to check. */
  readonly problem?: string;
}

/** What to do if a stack's objects are not where its settings lead. */
export const elsewhereAdvice =
  "If the settings point to another service, correct baseUrl, or create a separate stack for this service: pulumi stack init. If the objects were deleted, pulumi up --refresh recreates them.";

/**
 * Checks with up to three reads whether the objects of a state are in the service that the settings
 * name: a state does not say at which service its objects were made.
 *
 * @param settings of an account: only its resources count
 * @throws ConversationError if the service does not say
 */
export const stateStanding = async (
  held: readonly StateResource[],
  settings: Settings,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal?: AbortSignal | undefined },
): Promise<StateStanding> => {
  const { baseUrl, profile } = settings;
  const objects = chooseExamples(held, profile);
  if (objects.length === 0) return { asked: 0 };
  const service = askService(settings, env, signal);
  try {
    for (const object of objects)
      if (await exists(service, object)) return { asked: objects.length };
    const names = objects.map(
      ({ definition: { kind }, resource: { urn } }) =>
        `${kind} ${JSON.stringify(logicalName(urn))}`,
    );
    return {
      asked: objects.length,
      problem: `the objects in the state were not found at ${baseUrl} (checked: ${names.join(", ")}). Either the stack was deployed to another service, or the objects were deleted`,
    };
  } finally {
    await service.close();
  }
};
