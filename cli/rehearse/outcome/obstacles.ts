import type { StoredObject } from "../../../emulator/index.js";
import type { Definition } from "../../../provider/definition/define.js";
import { deletionOrder } from "../../../provider/definition/references.js";
import { resources } from "../../../provider/resources/index.js";
import type { StackStates } from "../../../provider/stacks/stack-states.js";
import { wireReferences } from "../../account/read-account.js";
import type { CopiedObjects } from "../service/account-copy.js";
import type { Obstacle } from "./outcome.js";
import { namedObject } from "./rehearsed-changes.js";

/** An account as it was when a step was refused, and who has what of it. */
export interface ObstacleSource {
  readonly objects: CopiedObjects;
  readonly states: Pick<StackStates, "holdersOf">;
  readonly profile: string | undefined;
}

interface PlacedObject {
  readonly definition: Definition;
  readonly object: StoredObject;
}

const allIn = (objects: CopiedObjects): readonly PlacedObject[] =>
  deletionOrder(resources).flatMap((definition) =>
    (objects[definition.collection] ?? []).map((object) => ({ definition, object })),
  );

const obstacleOf = (
  { definition, object }: PlacedObject,
  { states, profile }: ObstacleSource,
): Obstacle => {
  const [holder] = states.holdersOf(definition.kind, object.id);
  return {
    ...namedObject(definition, object, profile),
    ...(holder ? { stack: holder.stack } : {}),
  };
};

const refersTo = ({ definition, object }: PlacedObject, target: Definition, id: string): boolean =>
  wireReferences(definition, object).some((one) => one.to.kind === target.kind && one.id === id);

/** Everything that uses an object, in the order in which it would have to go. */
export const usersAmong = (
  target: Definition,
  id: string,
  source: ObstacleSource,
): readonly Obstacle[] =>
  allIn(source.objects)
    .filter((each) => refersTo(each, target, id))
    .map((each) => obstacleOf(each, source));

/** The objects that a message names by their ids. */
export const namedIn = (
  message: string,
  own: string | undefined,
  source: ObstacleSource,
): readonly Obstacle[] => {
  const words = new Set(message.match(/[\w-]{4,}/g) ?? []);
  return allIn(source.objects)
    .filter(({ object: { id } }) => id !== own && words.has(id))
    .map((each) => obstacleOf(each, source));
};

const nounOf = (kind: string): string =>
  resources.find((definition) => definition.kind === kind)?.noun ?? kind;

/** `the orchestration "night" (id …)` */
export const obstacleTitle = ({ kind, name, id }: Obstacle): string =>
  `the ${nounOf(kind)} ${JSON.stringify(name)}${id ? ` (id ${id})` : ""}`;

/** What to do about everything that uses an object which is to be deleted, in this order. */
export const orderOfDeletion = (
  users: readonly Obstacle[],
  own: string,
  what: string,
): readonly string[] => [
  ...users.map((user) => {
    const where =
      user.stack === undefined
        ? "by hand, as no stack manages it"
        : user.stack === own
          ? "in this program"
          : `in the stack ${user.stack}`;
    return `Take the reference to ${what} out of ${obstacleTitle(user)}, or delete that, ${where}.`;
  }),
  "Then run this again.",
];
