import { randomUUID } from "node:crypto";
import { textAt } from "../../../provider/kernel/json.js";
import { authentication } from "../../../provider/resources/authentication.js";
import { channel } from "../../../provider/resources/channel.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { participant } from "../../../provider/resources/participant.js";
import { listIn } from "../list-answer.js";
import {
  type Experiment,
  isAccepted,
  isRefused,
  type ProbeMeans,
  type StillOpen,
  stillOpen,
  unexpected,
} from "./experiment.js";

/** Whether an object that nobody uses can be deleted: else a refusal says nothing of use. */
const canDelete = async ({ objects }: ProbeMeans): Promise<boolean> => {
  const made = await objects.post(authentication, await objects.body(authentication));
  const id = textAt(made.body, "id");
  return id !== undefined && isAccepted({ status: await objects.remove(authentication, id) });
};

const heldObject: Experiment = {
  asks: "which status refuses to delete an object that is in use",
  names: ["inUseStatus"],
  mostCalls: 7,
  run: async (means) => {
    const { objects } = means;
    const id = await objects.id(authentication);
    await objects.id(clientApplication);
    const status = await objects.remove(authentication, id);
    if (isAccepted({ status })) return { inUseStatus: stillOpen("objects in use can be deleted") };
    if (!isRefused({ status }) || status === 404) return { inUseStatus: unexpected({ status }) };
    if (await canDelete(means)) return { inUseStatus: status };
    return { inUseStatus: stillOpen(`every deletion is refused (${status})`) };
  },
};

/** A refusal counts where the same is taken with the id of an object that exists. */
const danglingReference: Experiment = {
  asks: "whether the id of an object that does not exist is refused",
  names: ["unknownReference"],
  mostCalls: 7,
  run: async ({ objects }) => {
    const { application: _, ...body } = await objects.body(participant);
    const made = await objects.post(participant, { ...body, application: { id: randomUUID() } });
    if (isAccepted(made)) return { unknownReference: "accept" };
    if (!isRefused(made)) return { unknownReference: unexpected(made) };
    const right = await objects.post(participant, await objects.body(participant));
    return { unknownReference: isAccepted(right) ? "refuse" : unexpected(right) };
  },
};

const isOurs = ({ name }: { readonly name?: unknown }): boolean =>
  typeof name === "string" && name.includes("pulumi-conversation-probe-");

/** Why no channel may be made: the tenant has, or may have, client applications of others. */
const foreignOnes = async ({ client, objects }: ProbeMeans): Promise<StillOpen | undefined> => {
  const { collection, listKey } = clientApplication;
  const answer = await client.call("GET", `/${collection}`);
  if (!isAccepted(answer)) return unexpected(answer);
  const { items, count } = listIn(answer, listKey);
  if (count === undefined)
    return stillOpen(
      "the list of client applications does not tell their number: if there are others, and they hold every channel, one that is made could not be removed again",
    );
  if (count === objects.countOf(clientApplication) && items.every(isOurs)) return undefined;
  return stillOpen(
    "the tenant has client applications of its own: if these hold every channel, one that is made could not be removed again. You see it where you delete a channel that no account names",
  );
};

/**
 * By the letter of the specification any client application holds every channel. Then a channel could
 * not be removed again, so one is made only where the client application can be removed as well.
 */
const channelHolder: Experiment = {
  asks: "what holds a channel: accounts, or any client application",
  names: ["channelRule"],
  mostCalls: 9,
  run: async (means) => {
    const { objects } = means;
    await objects.id(clientApplication);
    const open = await foreignOnes(means);
    if (open) return { channelRule: open };
    const made = await objects.id(channel);
    const status = await objects.remove(channel, made);
    if (isAccepted({ status })) return { channelRule: "account" };
    if (!isRefused({ status })) return { channelRule: unexpected({ status }) };
    await objects.removeAll(clientApplication);
    if (isAccepted({ status: await objects.remove(channel, made) }))
      return { channelRule: "any-client-application" };
    return { channelRule: stillOpen(`the deletion of a channel is refused anyway (${status})`) };
  },
};

/** Questions about objects that refer to others. */
export const referenceExperiments: readonly Experiment[] = [
  heldObject,
  danglingReference,
  channelHolder,
];
