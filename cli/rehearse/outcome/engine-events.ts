import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { jsonIn } from "../../../provider/kernel/json.js";

const metadata = z.object({ op: z.string(), urn: z.string(), type: z.string() });
const withMetadata = z.object({ metadata });

const eventSchema = z.object({
  resourcePreEvent: withMetadata.optional(),
  resOutputsEvent: withMetadata.optional(),
  resOpFailedEvent: withMetadata.optional(),
  diagnosticEvent: z
    .object({ urn: z.string().optional(), message: z.string(), severity: z.string() })
    .optional(),
  summaryEvent: z.object({ result: z.string().optional() }).optional(),
});

/** What the engine did with one resource. */
export interface EngineStep {
  readonly urn: string;
  readonly type: string;
  /** Pulumi's word, such as `create`, `update`, `same`. */
  readonly operation: string;
  readonly failed: boolean;
}

/** An error that was shown; without a URN it is about the run as a whole. */
export interface EngineError {
  readonly urn?: string;
  readonly message: string;
}

/** A run of the engine, as its events tell it. */
export interface EngineRun {
  /** In the order in which they ended; what began and never ended comes last. */
  readonly steps: readonly EngineStep[];
  readonly errors: readonly EngineError[];
}

/** Pulumi marks colours in messages: `<{%reset%}>`. */
const withoutColour = (text: string): string =>
  stripVTControlCharacters(text.replace(/<\{%[\w ]*%\}>/g, "")).trim();

/** Reads what `--event-log` has written: an event on each line. */
export const engineRunIn = (log: string): EngineRun => {
  const begun = new Map<string, EngineStep>();
  const ended: EngineStep[] = [];
  const errors: EngineError[] = [];
  const end = ({ op, urn, type }: z.infer<typeof metadata>, failed: boolean): void => {
    begun.delete(`${op} ${urn}`);
    ended.push({ urn, type, operation: op, failed });
  };
  for (const line of log.split("\n")) {
    // Most lines are for debugging, and long.
    if (line.trim() === "" || line.includes('"severity":"debug"')) continue;
    const event = eventSchema.safeParse(jsonIn(line)).data;
    if (!event) continue;
    const { resourcePreEvent, resOutputsEvent, resOpFailedEvent, diagnosticEvent } = event;
    if (resourcePreEvent) {
      const { op, urn, type } = resourcePreEvent.metadata;
      begun.set(`${op} ${urn}`, { urn, type, operation: op, failed: false });
    }
    if (resOutputsEvent) end(resOutputsEvent.metadata, false);
    if (resOpFailedEvent) end(resOpFailedEvent.metadata, true);
    if (diagnosticEvent?.severity === "error") {
      const { urn, message } = diagnosticEvent;
      errors.push({ ...(urn ? { urn } : {}), message: withoutColour(message) });
    }
  }
  return { steps: [...ended, ...begun.values()], errors };
};
