import { randomUUID } from "node:crypto";
import { orchestration } from "../../../provider/resources/orchestration.js";
import { retryAfterForm } from "../../../provider/service/http/retry.js";
import type { TenantAnswer, TenantClient } from "../tenant-client.js";
import { foreignOrigin } from "../tenant-client.js";
import {
  type Answers,
  allOpen,
  type Experiment,
  isAccepted,
  type ProbeMeans,
  stillOpen,
} from "./experiment.js";

/** Rates of the plans on standard endpoints, in calls per second (specification §8.2). */
const standardRates = [
  ["enterprise", 1],
  ["basic", 0.5],
  ["developer", 0.16],
] as const;

const isOver = ({ status }: TenantAnswer): boolean => status === 429;

/** How a service says that there is no such object. */
const isAbsent = ({ status }: TenantAnswer): boolean => [400, 403, 404, 410].includes(status);

/**
 * A call that changes nothing, on an endpoint that is seldom used: nobody has this id.
 *
 * @throws Error where the answer tells nothing of the rate
 */
const probeCall = async (client: TenantClient): Promise<TenantAnswer> => {
  const path = `/${orchestration.collection}/${randomUUID()}`;
  const first = await client.attempt("GET", path);
  // The token ran out: the rate was not asked.
  const answer = first.status === 401 ? await client.attempt("GET", path) : first;
  if (isOver(answer) || isAbsent(answer) || isAccepted(answer)) return answer;
  throw new Error(`the tenant answered ${answer.status} while its rate was measured`);
};

/** In which form a refusal for the rate says when to come again. */
const retryAfterIn = ({ header }: TenantAnswer) => {
  const text = header("retry-after");
  if (text === undefined) return "none";
  return retryAfterForm(text) ?? stillOpen("it is no time");
};

/** The plan whose rate gives one token back within its period, and no more; each try waits for one. */
const planOf = async (client: TenantClient) => {
  for (const [plan, rate] of standardRates) {
    await client.sleep(1_050 / rate);
    if (isOver(await probeCall(client))) continue;
    return isOver(await probeCall(client)) ? { plan, rate } : undefined;
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

const measured = async ({ client }: ProbeMeans, mostBurst: number): Promise<Answers> => {
  const since = client.now();
  let accepted = 0;
  let refused: TenantAnswer | undefined;
  while (!refused && accepted <= mostBurst) {
    const answer = await probeCall(client);
    if (isOver(answer)) refused = answer;
    else accepted += 1;
  }
  if (!refused)
    return allOpen(burstNames, stillOpen(`${accepted} calls at once were within the rate`));
  if (accepted === 0)
    return allOpen(burstNames, stillOpen("the first call was refused: others use up the rate"));
  const seconds = (client.now() - since) / 1000;
  const found = await planOf(client);
  if (!found)
    return {
      ...allOpen(burstNames, stillOpen("the rate is none of a plan")),
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
  mostCalls: mostBurst + 8,
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
