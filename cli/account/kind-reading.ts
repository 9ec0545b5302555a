import type { Definition } from "../../provider/definition/define.js";
import { isConversationError } from "../../provider/kernel/errors.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import type { ListProgress } from "../../provider/service/objects/collections.js";
import type { KindReading } from "./account-lists.js";

type ReadKind = (
  definition: Definition,
  onPage: (progress: ListProgress) => void,
) => Promise<KindReading>;

/** Reads all objects of one kind; a refusal is an answer, a cancellation is not. */
export const kindReader =
  ({ service }: AccountSession): ReadKind =>
  async (definition, onPage) => {
    try {
      const { objects, complete } = await service.list(definition, { fresh: true, onPage });
      const kind = { definition, objects: new Map(objects) };
      if (complete) return kind;
      const problem = `the service did not give all pages of GET /${definition.collection}; ${objects.size} objects came`;
      return { ...kind, problem };
    } catch (error) {
      if (!isConversationError(error) || error.code === "CANCELLED") throw error;
      return { definition, objects: new Map(), problem: error.message, error };
    }
  };
