import type { SimulatedCall } from "./simulation/simulated-service.js";

/** Calls of one endpoint in a row, each of which holds up the next. */
export interface PathPart {
  /** Such as `POST /participants`. */
  readonly endpoint: string;
  readonly calls: number;
  /** The resources whose calls these are, such as `Participant orders`, in their order. */
  readonly resources: readonly string[];
  /** Seconds since the start, by which this part can begin. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** Whether the calls wait for the rate limit of the endpoint. */
  readonly waitsForRate: boolean;
}

const chainTo = (last: SimulatedCall): readonly SimulatedCall[] => {
  const chain: SimulatedCall[] = [];
  for (let call: SimulatedCall | undefined = last; call; call = call.cause) chain.unshift(call);
  return chain;
};

const grouped = (chain: readonly SimulatedCall[]): readonly (readonly SimulatedCall[])[] => {
  const groups: SimulatedCall[][] = [];
  for (const call of chain) {
    const group = groups.at(-1);
    if (group?.[0]?.endpoint === call.endpoint) group.push(call);
    else groups.push([call]);
  }
  return groups;
};

/** The chain of calls that makes the run as long as it is; empty where there are none. */
export const criticalPath = (calls: readonly SimulatedCall[]): readonly PathPart[] => {
  const last = calls.reduce<SimulatedCall | undefined>(
    (latest, call) => (latest && latest.endedAt >= call.endedAt ? latest : call),
    undefined,
  );
  return grouped(last ? chainTo(last) : []).flatMap((group) => {
    const [first, end] = [group[0], group.at(-1)];
    if (!first || !end) return [];
    return {
      endpoint: first.endpoint,
      calls: group.length,
      resources: [...new Set(group.map(({ step }) => step.label))],
      fromSeconds: first.wantedAt,
      toSeconds: end.endedAt,
      waitsForRate: group.some(({ sentAt, wantedAt }) => sentAt > wantedAt),
    };
  });
};
