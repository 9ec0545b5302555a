import type { ServerResponse } from "node:http";

type Json = Record<string, unknown>;

/** What happens to the answer of a call that the service has carried out. */
export type SpoiledAnswer = "cut off" | "500" | "truncated";

/** What goes wrong with one call that writes. */
export interface WriteFault {
  readonly answer: SpoiledAnswer | null;
  /** How many pages of the collection's list do not know of it yet. */
  readonly staleLists: number;
}

/** A list as it was before a write, for so many more pages. */
interface Lag {
  readonly objects: readonly Json[];
  left: number;
}

/** The faults of the strict service: a plan for the next writes, each of them carried out all the same. */
export class StrictFaults {
  /** How often each fault struck, ever. */
  readonly struck: Record<SpoiledAnswer | "stale list", number> = {
    "cut off": 0,
    "500": 0,
    truncated: 0,
    "stale list": 0,
  };
  /** Collections whose list was behind the truth since the last plan. */
  readonly lagged = new Set<string>();
  #plan: WriteFault[] = [];
  readonly #lags = new Map<string, Lag>();

  /** The next writes go wrong in this way, one after the other. */
  plan(faults: readonly WriteFault[]): void {
    this.#plan = [...faults];
    this.lagged.clear();
  }

  /** No fault any more, and every list tells the truth. */
  calm(): void {
    this.#plan = [];
    this.#lags.clear();
  }

  /** Before a write is carried out: what is to happen to its answer. */
  strike(collection: string, objects: readonly Json[]): SpoiledAnswer | null {
    const fault = this.#plan.shift();
    if (fault && fault.staleLists > 0 && !this.#lags.has(collection))
      this.#lags.set(collection, { objects: [...objects], left: fault.staleLists });
    return fault?.answer ?? null;
  }

  /** What a page of the list is taken from. */
  listed(collection: string, objects: readonly Json[]): readonly Json[] {
    const lag = this.#lags.get(collection);
    if (!lag) return objects;
    lag.left -= 1;
    if (lag.left === 0) this.#lags.delete(collection);
    this.struck["stale list"] += 1;
    this.lagged.add(collection);
    return lag.objects;
  }

  /** Gives the answer of a call that was carried out, spoiled. */
  spoil(response: ServerResponse, answer: SpoiledAnswer, status: number, text: string): void {
    this.struck[answer] += 1;
    if (answer === "500") {
      response.writeHead(500, { "content-type": "application/json" });
      response.end('{"code":"500-100","developerMessage":"internal error"}');
    } else if (answer === "truncated" && text !== "") {
      response.writeHead(status, { "content-length": Buffer.byteLength(text) });
      response.write(text.slice(0, text.length / 2), () => response.destroy());
    } else response.destroy();
  }
}
