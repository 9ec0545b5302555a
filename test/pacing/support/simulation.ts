import type { TrueBucket } from "../../../bench/true-bucket.js";
import { VirtualTime } from "../../../bench/virtual-time.js";
import { type PacingOptions, pacedCalls } from "../../../provider/pacing/pacer.js";
import type { Pace } from "../../../provider/service/pace.js";
import type { Endpoint, HttpResponse } from "../../../provider/service/transport.js";

export const create: Endpoint = { method: "POST", template: "/channels" };
export const ok: HttpResponse = { status: 200, headers: {}, text: "{}" };
export const refusedWith = (headers: HttpResponse["headers"] = {}): HttpResponse => ({
  status: 429,
  headers,
  text: '{"code":"429-001","developerMessage":"Too many requests."}',
});

/** Answers from a list, the last one for ever. */
export const answering = (...answers: HttpResponse[]) => {
  let next = 0;
  return async () => answers[Math.min(next++, answers.length - 1)] ?? ok;
};

export interface Line {
  /** Time from sending to the answer. */
  readonly roundTripMs: number;
  /** Up to so much is added, from a fixed series. */
  readonly jitterMs?: number;
}

/** The same series of numbers from 0 to 1 in every run. */
export const series = (seed = 12345): (() => number) => {
  let state = Math.abs(seed) % 2147483648;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
};

/** A call of an endpoint with a true bucket, at the far end of a line. */
export const calling = (time: VirtualTime, bucket: TrueBucket, line: Line) => {
  const random = series();
  return async (): Promise<HttpResponse> => {
    await time.sleep(line.roundTripMs / 2 + random() * (line.jitterMs ?? 0));
    const accepted = bucket.take(time.now());
    await time.sleep(line.roundTripMs / 2);
    return accepted ? ok : refusedWith();
  };
};

export interface SimulatedCalls {
  readonly wallMs: number;
  readonly refused: number;
  readonly failed: number;
}

export const makeCalls = async (
  time: VirtualTime,
  pace: Pace,
  count: number,
  call: () => Promise<HttpResponse>,
  endpoint = create,
): Promise<Omit<SimulatedCalls, "refused">> => {
  const start = time.now();
  const calls = Array.from({ length: count }, () => pace(endpoint, call));
  const ended = await time.during(Promise.allSettled(calls));
  const failed = ended.filter((one) => one.status === "rejected" || one.value.status !== 200);
  return { wallMs: time.now() - start, failed: failed.length };
};

/** Somebody else who takes a token every so often, until told to stop. */
export const others = (time: VirtualTime, bucket: TrueBucket, everyMs: number) => {
  let over = false;
  const calls = async () => {
    while (!over) {
      bucket.take(time.now());
      await time.sleep(everyMs);
    }
  };
  void calls();
  return {
    stop: () => {
      over = true;
    },
  };
};

/** A pacer for a tenant on the highest plan who has all of it. */
export const pacer = (clock: VirtualTime, options: Partial<PacingOptions> = {}): Pace =>
  pacedCalls({ clock, tenant: "t", plan: "enterprise", share: 1, ...options });

/** One run of the pacer against one bucket that nobody else uses. */
export const alone = async (
  bucket: TrueBucket,
  count: number,
  line: Line,
  options: Partial<PacingOptions> = {},
): Promise<SimulatedCalls> => {
  const time = new VirtualTime();
  const limits = () => ({ standard: bucket });
  const pace = pacer(time, { limits, ...options });
  const outcome = await makeCalls(time, pace, count, calling(time, bucket, line));
  return { ...outcome, refused: bucket.refused };
};
