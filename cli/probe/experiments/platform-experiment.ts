import { objectsIn, textAt } from "../../../provider/kernel/json.js";
import { clientApplication } from "../../../provider/resources/client-application.js";
import { participant } from "../../../provider/resources/participant.js";
import { listIn } from "../list-answer.js";
import { type Experiment, stillOpen } from "./experiment.js";

const neutral = "custom";

/** The word before `_bot` or `_agent`, where it is not that of everybody's own. */
const wordIn = (kind: string | undefined): string | undefined => {
  const word = /^([a-z][a-z0-9]{0,31})_(bot|agent)$/.exec(kind ?? "")?.[1];
  return word === neutral ? undefined : word;
};

/** Reads what the tenant has: roles of client applications and types of bots name the platform. */
export const platformExperiment: Experiment = {
  asks: "which word stands for the platform in the kinds of bots and agents",
  names: ["platformName"],
  mostCalls: 2,
  run: async ({ client }) => {
    const applications = await client.call("GET", `/${clientApplication.collection}`);
    const bots = await client.call("GET", `/${participant.collection}`);
    const kinds = [
      ...listIn(applications, clientApplication.listKey)
        .items.flatMap((each) => objectsIn(each, "roles"))
        .map((role) => textAt(role, "name")),
      ...listIn(bots, participant.listKey).items.map((each) => textAt(each, "type")),
    ];
    const words = new Set(kinds.map(wordIn).filter((word) => word !== undefined));
    const [word] = words;
    if (word !== undefined && words.size === 1) return { platformName: word };
    return {
      platformName: stillOpen(
        words.size > 1
          ? `the tenant names several: ${[...words].join(", ")}`
          : "no bot and no agent of the platform is registered",
      ),
    };
  },
};
