import { randomUUID } from "node:crypto";
import { orchestration } from "../../../provider/resources/orchestration.js";
import type { TenantAnswer, TenantClient } from "../tenant-client.js";
import { foreignOrigin } from "../tenant-client.js";
import { type Answers, type Experiment, type ProbeMeans, stillOpen } from "./experiment.js";

/** Rates of the plans on standard endpoints, in calls per second (specification §8.2). */
const standardRates = [
  ["enterprise", 1],
  ["basic", 0.5],
  ["developer", 0.16],
] as const;

const isOver = ({ status }: TenantAnswer): boolean => status === 429;

/** A call that changes nothing, on an endpoint that is seldom used: nobody has this id. */
const probeCall = (client: TenantClient): Promise<TenantAnswer> =>
  client.attempt("GET", `/${orchestration.collection}/${randomUUID()}`);

/** In which form a refusal for the rate says when to come again. */
const retryAfterIn = ({ header }: TenantAnswer): string => {
  const text = header("retry-after");
  if (text === undefined) return "none";
  return /^\d+(\.\d+)?$/.test(text.trim()) ? "seconds" : "date";
};

/** The plan whose rate gives a token back within its period; each try waits for one more. */
const planOf = async (client: TenantClient) => {
  for (const [plan, rate] of standardRates) {
    await client.sleep(1_050 / rate);
    if (!isOver(await probeCall(client))) return { plan, rate };
  }
  return undefined;
};

/** A refused call in the middle of a period: where it takes a token, the next one is refused, too. */
const refusedCosts = async (client: TenantClient, rate: number): Promise<boolean> => {
  for (let call = 1; call <= 2; call += 1) {
    await client.sleep(600 / rate);
    if (!isOver(await probeCall(client))) return false;
  }
  return true;
};

const burstNames = ["burst", "plan", "retryAfter", "refusedCosts"] as const;

const allOpen = (why: string): Answers =>
  Object.fromEntries(burstNames.map((name) => [name, stillOpen(why)]));

const measured = async ({ client }: ProbeMeans, mostBurst: number): Promise<Answers> => {
  const since = client.now();
  let accepted = 0;
  let refused: TenantAnswer | undefined;
  while (!refused && accepted <= mostBurst) {
    const answer = await probeCall(client);
    if (isOver(answer)) refused = answer;
    else accepted += 1;
  }
  if (!refused) return allOpen(`${accepted} calls at once were within the rate`);
  const seconds = (client.now() - since) / 1000;
  const found = await planOf(client);
  if (!found)
    return {
      ...allOpen("the rate is none of a plan"),
      burst: accepted,
      retryAfter: retryAfterIn(refused),
    };
  const { plan, rate } = found;
  return {
    burst: Math.max(1, accepted - Math.floor(seconds * rate)),
    plan,
    retryAfter: retryAfterIn(refused),
    refusedCosts: await refusedCosts(client, rate),
  };
};

/**
 * Calls an endpoint until it is over its rate; for a while others of the tenant cannot call it either.
 *
 * @param mostBurst so many calls at most
 */
export const burstExperiment = (mostBurst: number): Experiment => ({
  asks: `plan and burst, and how a call beyond the rate is refused (uses up GET /${orchestration.collection}/{id})`,
  names: burstNames,
  mostCalls: mostBurst + 7,
  run: (means) => measured(means, mostBurst),
});

/** What the answer of the token address tells. */
export const tokenExperiment: Experiment = {
  asks: "how long a token lives, and which pages may read it",
  names: ["tokenLifetime", "cors"],
  mostCalls: 1,
  run: async ({ client }) => {
    const { expiresIn, answer } = await client.token();
    const allowed = answer.header("access-control-allow-origin");
    const isAny = allowed === "*" || allowed === foreignOrigin;
    return {
      tokenLifetime: expiresIn ?? stillOpen("the token address does not tell"),
      cors: isAny ? "any" : stillOpen("pages of registered addresses alone could tell"),
    };
  },
};
