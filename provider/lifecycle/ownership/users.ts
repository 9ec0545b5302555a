import type { Definition } from "../../definition/define.js";
import { namingOf, referencesTo } from "../../definition/references.js";
import { type ReferenceIn, referencesIn } from "../../definition/walk.js";
import { fieldsFromWire, neutralVendor } from "../../definition/wire.js";
import { isConversationError } from "../../kernel/errors.js";
import type { WireObject } from "../../service/collections.js";
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

/** Every reference of an object, as the service's JSON holds it. */
export const wireReferences = (definition: Definition, wire: WireObject) =>
  referencesIn(definition.fields, fieldsFromWire(definition.fields, wire, neutralVendor)).flatMap(
    ({ id, ...rest }) =>
      typeof id === "string" || typeof id === "number" ? [{ ...rest, id: String(id) }] : [],
  );

/** Objects of one kind, by id. */
interface KindObjects {
  readonly definition: Definition;
  readonly objects: Iterable<readonly [id: string, wire: WireObject]>;
}

/**
 * Who uses what among these objects.
 *
 * @param referencesOf what an object refers to. Default: what its JSON says
 * @returns gives the users of an object, each once for every place in which it refers to it
 */
export const usersAmong = (
  kinds: readonly KindObjects[],
  referencesOf: (
    definition: Definition,
    wire: WireObject,
    id: string,
  ) => readonly ReferenceIn[] = wireReferences,
) => {
  const uses = kinds.flatMap(({ definition, objects }) =>
    [...objects].flatMap(([id, wire]) =>
      referencesOf(definition, wire, id).map(({ to, id: used, path }) => ({
        used: `${to.kind} ${used}`,
        ...{ definition, id, wire, path },
      })),
    ),
  );
  const byUsed = Map.groupBy(uses, ({ used }) => used);
  return ({ kind }: Definition, id: string) => byUsed.get(`${kind} ${id}`) ?? [];
};

const listed = async (definition: Definition, { service }: AccountSession) => {
  try {
    const { objects } = await service.list(definition, { fresh: true });
    return { definition, objects };
  } catch (error) {
    // A refusal is to be explained as far as can be; the lists are only for that.
    if (isConversationError(error)) return { definition, objects: [] };
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
  const users = usersAmong(candidates)(target, targetId);
  return [...new Map(users.map((each) => [each.wire, each])).values()].map(
    ({ definition, id, wire }) => {
      const mark = originalMark(definition, wire);
      const name = nameOnWire(definition, wire);
      const isNamedUniquely = namingOf(definition).isUnique;
      return { definition, id, name, isNamedUniquely, ...(mark ? { mark } : {}) };
    },
  );
};
