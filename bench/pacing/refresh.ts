import { lifecycle } from "../../provider/lifecycle/index.js";
import { createRun } from "../../provider/lifecycle/run.js";
import type { RefreshFigure } from "../figures.js";
import { clients } from "./clients.js";
import {
  type BenchSession,
  body,
  burstFor,
  failures,
  kind,
  rateFor,
  type Setting,
} from "./session.js";

/** One refresh to measure. */
export type RefreshCase = Pick<RefreshFigure, "way" | "plan" | "resources">;

/**
 * The setting in which a refresh runs: always with our own pacer.
 *
 * @throws Error if it is missing
 */
export const refreshSetting = ({ plan }: RefreshCase): Setting => {
  const [client] = clients;
  if (!client) throw new Error("There are no clients.");
  return { client, plan, burst: burstFor(plan) };
};

type Read = (id: string, number: number) => Promise<unknown>;

const readThrough = (session: BenchSession): Readonly<Record<RefreshCase["way"], Read>> => {
  const { settings, service } = session;
  const kept = lifecycle(
    kind,
    createRun(async () => ({ settings, service })),
  );
  return {
    list: (id, number) => kept.read(id, { ...body(number), __provider: "pointer" }),
    items: (id) => service.read(kind, id),
  };
};

/** Puts objects there beforehand, each as soon as its token is due. */
const prepare = async (
  session: BenchSession,
  { plan, resources }: RefreshCase,
): Promise<string[]> => {
  const ids: string[] = [];
  for (let number = 0; number < resources; number++) {
    session.emulator.advance(1000 / rateFor(plan));
    const { id } = await session.during(session.neighbour.create(kind, body(number)));
    ids.push(id);
  }
  return ids;
};

/** Looks at every object and tells how long that took. */
export const measureRefresh = async (
  session: BenchSession,
  given: RefreshCase,
): Promise<RefreshFigure> => {
  const { service, clock, traffic, during } = session;
  const ids = await prepare(session, given);
  await during(service.token());
  const read = readThrough(session)[given.way];
  const start = clock.now();
  const failed = await during(
    failures(ids.length, async (number) => read(ids[number] ?? "", number)),
  );
  if (failed > 0) throw new Error(`${failed} of ${ids.length} objects could not be read.`);
  return { ...given, ...traffic, wallSeconds: (clock.now() - start) / 1000 };
};
