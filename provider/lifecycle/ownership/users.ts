import type { Definition } from "../../definition/define.js";
import { namingOf, referencesTo } from "../../definition/references.js";
import { referencesIn } from "../../definition/walk.js";
import { fieldsFromWire } from "../../definition/wire.js";
import { isConversationError } from "../../kernel/errors.js";
import type { AccountSession, ObjectHolders } from "../run.js";
import { originalMark } from "../seen-object.js";
import { type Mark, nameOnWire } from "./mark.js";

/** An object that refers to another one. */
export interface User {
  readonly definition: Definition;
  readonly id: string;
  readonly name: unknown;
  /** Whether no two objects of its kind can have the same name. */
  readonly isNamedUniquely: boolean;
  /** Undefined on objects of others and on copies of ours. */
  readonly mark?: Mark;
}

/** The state knows better than the mark, which `pulumi state move` does not change. */
const whose = (
  { definition: { kind }, id, mark }: User,
  own: Mark | undefined,
  states?: ObjectHolders,
): string => {
  if (!mark) return "not managed by Pulumi";
  const [elsewhere] = states?.holdersOf(kind, id).filter((each) => !each.own) ?? [];
  if (elsewhere) return `in the state of the stack ${elsewhere.stack}: ${mark.label}`;
  return mark.stack === own?.stack
    ? `of this stack: ${mark.label}`
    : `of another stack: ${mark.label}`;
};

/** `account "kiosk" (id …, of this stack: shop/prod kiosk)` */
export const describeUser = (user: User, own: Mark | undefined, states?: ObjectHolders): string =>
  `${user.definition.noun} ${JSON.stringify(user.name)} (id ${user.id}, ${whose(user, own, states)})`;

/** Whether an object carries the mark of a stack. */
export const isOfStack = ({ mark }: User, own: Mark | undefined): boolean =>
  mark !== undefined && mark.stack === own?.stack;

const listed = async (definition: Definition, { service }: AccountSession) => {
  try {
    const { objects } = await service.list(definition, { fresh: true });
    return [...objects].map(([id, wire]) => ({ definition, id, wire }));
  } catch (error) {
    // A refusal is to be explained as far as can be; the lists are only for that.
    if (isConversationError(error)) return [];
    throw error;
  }
};

/** Who refers to an object, as far as the lists can be had. */
export const usersOf = async (
  target: Definition,
  targetId: string,
  session: AccountSession,
  resources: readonly Definition[],
): Promise<readonly User[]> => {
  const kinds = [...new Set(referencesTo(target, resources).map(({ from }) => from))];
  const candidates = await Promise.all(kinds.map((kind) => listed(kind, session)));
  return candidates
    .flat()
    .filter(({ definition, wire }) =>
      referencesIn(
        definition.fields,
        fieldsFromWire(definition.fields, wire, session.settings),
      ).some(({ to, id }) => to.kind === target.kind && id === targetId),
    )
    .map(({ definition, id, wire }) => {
      const mark = originalMark(definition, wire);
      const name = nameOnWire(definition, wire);
      const isNamedUniquely = namingOf(definition).isUnique;
      return { definition, id, name, isNamedUniquely, ...(mark ? { mark } : {}) };
    });
};
