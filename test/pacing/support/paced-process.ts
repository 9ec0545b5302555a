import { once } from "node:events";
import { systemClock } from "../../../provider/kernel/clock.js";
import { pacedCalls, sharedBuckets } from "../../../provider/pacing/pacer.js";
import { httpTransport } from "../../../provider/service/transport.js";

/** What one process of a test with several is to do; given as JSON in its first argument. */
export interface Task {
  readonly url: string;
  readonly rate: number;
  readonly burst: number;
  readonly calls: number;
  readonly redisUrl?: string;
  readonly cacheFolder?: string;
  /** Its wall clock is wrong by so much. */
  readonly skewMs?: number;
}

/** What it prints at the end. */
export interface Result {
  readonly done: number;
  readonly refused: number;
  readonly notices: readonly string[];
}

const run = async (task: Task): Promise<Result> => {
  const notices: string[] = [];
  const store = sharedBuckets({
    clock: systemClock,
    environment: { XDG_CACHE_HOME: task.cacheFolder },
    onNotice: (text) => notices.push(text),
    ...(task.redisUrl ? { redisUrl: task.redisUrl } : {}),
  });
  const pace = pacedCalls({
    clock: systemClock,
    tenant: task.url,
    plan: "enterprise",
    share: 1,
    store,
    limits: () => ({ standard: task }),
  });
  const transport = httpTransport();
  let refused = 0;
  const call = async () => {
    const response = await transport.send({ method: "POST", url: task.url, headers: {} });
    if (response.status === 429) refused += 1;
    return response;
  };
  const endpoint = { method: "POST", template: "/channels" } as const;
  const answers = await Promise.all(Array.from({ length: task.calls }, () => pace(endpoint, call)));
  await Promise.all([store.close(), transport.close()]);
  return { done: answers.filter(({ status }) => status === 200).length, refused, notices };
};

const main = async (task: Task): Promise<void> => {
  const { now } = Date;
  Date.now = () => now() + (task.skewMs ?? 0);
  process.stdout.write("ready\n");
  await once(process.stdin, "data");
  process.stdin.destroy();
  process.stdout.write(`${JSON.stringify(await run(task))}\n`);
};

if (require.main === module) void main(JSON.parse(process.argv[2] ?? "{}"));
