import { randomUUID } from "node:crypto";
import { authentication } from "../../../provider/resources/authentication.js";
import { channel } from "../../../provider/resources/channel.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { participant } from "../../../provider/resources/participant.js";
import {
  type Experiment,
  isAccepted,
  isRefused,
  listIn,
  type ProbeMeans,
  stillOpen,
  unexpected,
} from "./experiment.js";

const heldObject: Experiment = {
  asks: "which status refuses to delete an object that is in use",
  names: ["inUseStatus"],
  mostCalls: 5,
  run: async ({ objects }) => {
    const id = await objects.id(authentication);
    await objects.id(clientApplication);
    const status = await objects.remove(authentication, id);
    const isHeld = status >= 400 && status < 500 && status !== 404;
    return { inUseStatus: isHeld ? status : stillOpen("objects in use can be deleted") };
  },
};

const danglingReference: Experiment = {
  asks: "whether the id of an object that does not exist is refused",
  names: ["unknownReference"],
  mostCalls: 2,
  run: async ({ objects }) => {
    const { application: _, ...body } = await objects.body(participant);
    const made = await objects.post(participant, { ...body, application: { id: randomUUID() } });
    if (isRefused(made)) return { unknownReference: "refuse" };
    return { unknownReference: made.status < 300 ? "accept" : unexpected(made) };
  },
};

const isOurs = ({ name }: { readonly name?: unknown }): boolean =>
  typeof name === "string" && name.includes("pulumi-conversation-probe-");

/** Whether the tenant has client applications that the probe did not make, as far as its list tells. */
const hasForeignOnes = async ({ client, objects }: ProbeMeans): Promise<boolean> => {
  const { collection, listKey } = clientApplication;
  const answer = await client.call("GET", `/${collection}`);
  const { items, count = items.length } = listIn(answer, listKey);
  return (
    !isAccepted(answer) || count !== objects.countOf(clientApplication) || !items.every(isOurs)
  );
};

/**
 * By the letter of the specification any client application holds every channel. Then a channel could
 * not be removed again, so one is made only where the client application can be removed as well.
 */
const channelHolder: Experiment = {
  asks: "what holds a channel: accounts, or any client application",
  names: ["channelRule"],
  mostCalls: 7,
  run: async (means) => {
    const { objects } = means;
    await objects.id(clientApplication);
    if (await hasForeignOnes(means))
      return {
        channelRule: stillOpen(
          "the tenant has client applications of its own: if these hold every channel, one that is made could not be removed again",
        ),
      };
    const made = await objects.id(channel);
    const status = await objects.remove(channel, made);
    return { channelRule: status < 300 ? "account" : "any-client-application" };
  },
};

/** Questions about objects that refer to others. */
export const referenceExperiments: readonly Experiment[] = [
  heldObject,
  danglingReference,
  channelHolder,
];
