import { definitionOfType, logicalName } from "../../stack/stack-export.js";
import type { RehearsedCall } from "../service/recording-relay.js";
import type { EngineStep } from "./engine-events.js";
import type { RehearsedStep } from "./outcome.js";

/** What the engine does without changing anything. */
const unchanged = new Set(["same", "refresh", "read", "discard", "import"]);

/** Parts of a forced replacement, which is one step for the person who reads. */
const parts = new Set(["create-replacement", "delete-replaced", "discard-replaced"]);

/** Which object each resource stands for, from the state before and the state after. */
export type IdsByUrn = ReadonlyMap<string, readonly string[]>;

const ownCalls = (
  { urn, type }: EngineStep,
  calls: readonly RehearsedCall[],
  ids: IdsByUrn,
): readonly RehearsedCall[] => {
  const collection = definitionOfType(type)?.collection;
  const own = ids.get(urn) ?? [];
  return calls.filter(
    (call) => call.collection === collection && call.id !== undefined && own.includes(call.id),
  );
};

/**
 * What was done, in the order in which it was.
 *
 * @param startedAt the start of the run in the time of the calls, in milliseconds
 */
export const endedSteps = (
  steps: readonly EngineStep[],
  calls: readonly RehearsedCall[],
  ids: IdsByUrn,
  startedAt: number,
): readonly RehearsedStep[] => {
  const seconds = (at: number): number => Math.round((at - startedAt) / 10) / 100;
  let last = startedAt;
  return steps
    .filter(
      ({ operation, failed }) => !failed && !unchanged.has(operation) && !parts.has(operation),
    )
    .flatMap((step): RehearsedStep[] => {
      const definition = definitionOfType(step.type);
      if (!definition) return [];
      const own = ownCalls(step, calls, ids);
      const from = Math.min(...own.map(({ sentAt }) => sentAt), own.length > 0 ? Infinity : last);
      last = Math.max(last, ...own.map(({ endedAt }) => endedAt));
      const to = own.length > 0 ? Math.max(...own.map(({ endedAt }) => endedAt)) : last;
      return [
        {
          urn: step.urn,
          kind: definition.kind,
          name: logicalName(step.urn),
          operation: step.operation,
          calls: own.length,
          fromSeconds: seconds(from),
          toSeconds: seconds(to),
        },
      ];
    })
    .toSorted((a, b) => a.toSeconds - b.toSeconds);
};
