import type { ConversationSide } from "../../provider/service/message-types.js";
import { type ExplainedRecipient, orchestrationFor } from "./recipients.js";
import type { AccountObject, SetUpObjects } from "./set-up-objects.js";

/** What is looked at of a route. */
interface AimedRoute {
  readonly phase: "bot" | "agent";
  readonly from: ConversationSide;
  readonly types: readonly string[];
  readonly to: readonly ExplainedRecipient[];
}

const channelTypeOf = ({ channels }: SetUpObjects, { channel }: AccountObject) =>
  channels.get(channel ?? "")?.type;

const missingPart = (objects: SetUpObjects, account: AccountObject): string | undefined => {
  const channel = objects.channels.get(account.channel ?? "");
  if (!account.active) return "no conversation begins: the account is not active";
  if (!channel) return "no conversation begins: the channel of the account is not there";
  if (!channel.active) return `no conversation begins: the channel ${channel.type} is not active`;
  const orchestration = orchestrationFor(objects, account);
  return orchestration?.active === false
    ? `no conversation begins: the orchestration ${orchestration.name} is not active`
    : undefined;
};

/** Why no conversation of an account can begin; undefined where one can. */
export const outOfUse = (objects: SetUpObjects, account: AccountObject): string | undefined => {
  const missing = missingPart(objects, account);
  if (missing !== undefined) return missing;
  const type = channelTypeOf(objects, account);
  const first = objects.accounts.find(
    (other) =>
      other.address === account.address &&
      channelTypeOf(objects, other) === type &&
      missingPart(objects, other) === undefined,
  );
  return first === account
    ? undefined
    : `no conversation begins: the account ${first?.name} was made earlier with the same address ${account.address} on ${type}`;
};

const reasonsOf = (to: readonly ExplainedRecipient[], side: ConversationSide): string =>
  to
    .filter((each) => each.side === side)
    .map(({ unreached }) => unreached)
    .join("; ");

const isReached = (to: readonly ExplainedRecipient[], side: ConversationSide): boolean =>
  to.some((each) => each.side === side && each.unreached === undefined);

/** The routes on which somebody's messages for a side reach nobody, each told once. */
export const deadEndsOf = (
  routes: readonly AimedRoute[],
  begins: "bot" | "agent",
): readonly string[] => {
  const found = routes.flatMap(({ phase, from, to, types }) => {
    const isHandOver = types.includes("escalation.transfer") && phase === "bot";
    const lost = (side: ConversationSide) =>
      to.some((each) => each.side === side) && !isReached(to, side);
    return [
      ...(from === "customer" && phase === begins && lost(phase)
        ? [`a new conversation reaches nobody: ${reasonsOf(to, phase)}`]
        : []),
      ...(isHandOver && lost("agent")
        ? [`an escalation leads nowhere: ${reasonsOf(to, "agent")}`]
        : []),
      ...(from !== "customer" && lost("customer")
        ? [`no reply reaches the customer: ${reasonsOf(to, "customer")}`]
        : []),
    ];
  });
  const partly = routes.flatMap(({ to }) =>
    to.flatMap((each) =>
      each.unreached !== undefined && isReached(to, each.side)
        ? [`one of several for the ${each.side}'s side gets nothing: ${each.unreached}`]
        : [],
    ),
  );
  return [...new Set([...found, ...partly])];
};
