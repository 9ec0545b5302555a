import { clients } from "../../bench/clients.js";
import type { CreationFigure, Figures } from "../../bench/figures.js";

/** A figure of a creation that went well. */
export const creation = (changes: Partial<CreationFigure> = {}): CreationFigure => ({
  client: "pulumi-conversation",
  plan: "developer",
  situation: "alone",
  rate: 0.16,
  burst: 3,
  resources: 50,
  idealSeconds: 293.75,
  wallSeconds: 294.3,
  overIdeal: 294.3 / 293.75,
  calls: 52,
  refused: 2,
  failed: 0,
  ...changes,
});

const everyClient = (changes: Partial<CreationFigure> = {}): CreationFigure[] =>
  clients.map(({ name }) => creation({ client: name, ...changes }));

/** Figures as a run gives them. */
export const figures = (changes: Partial<Figures> = {}): Figures => ({
  version: "1.2.3",
  node: "24.0.0",
  cores: 2,
  inFlight: 8,
  line: { roundTripMs: 80, jitterMs: 20 },
  creation: everyClient(),
  disturbed: everyClient({ plan: "enterprise", situation: "empty" }),
  refresh: [
    { way: "list", plan: "basic", resources: 200, wallSeconds: 20.9, calls: 21, refused: 1 },
  ],
  crossCheck: { real: [creation()], virtual: [creation({ wallSeconds: 295 })] },
  pacer: [
    {
      rate: 1,
      burst: 10,
      calls: 60,
      idealSeconds: 50,
      wallSeconds: 50.1,
      overIdeal: 1.002,
      refused: 2,
    },
  ],
  engine: { skipped: "It was left out with --no-engine." },
  overhead: {
    requests: 10,
    inFlight: 1,
    client: { requestsPerSecond: 20_000, cpuMicrosecondsPerRequest: 30 },
    pool: { requestsPerSecond: 40_000, cpuMicrosecondsPerRequest: 20 },
    cpuOverPool: 1.5,
  },
  seconds: 60,
  ...changes,
});
