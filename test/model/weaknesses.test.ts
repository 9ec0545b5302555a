import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { isConversationError } from "../../provider/kernel/errors.js";
import { ownObjects } from "../../provider/lifecycle/existing.js";
import { isSameResource, markOn } from "../../provider/lifecycle/ownership/mark.js";
import type { Service } from "../../provider/service/connect.js";
import { byHand, copiedAndRefused, type Focus, failing, saying, severalAlike } from "./focus.js";
import { scenario } from "./histories.js";
import { type ModelStage, openStage, play, type Weakness } from "./play.js";
import { plainSetting } from "./scenario.js";
import { isOff, type Rule, switchOff } from "./weakened.js";

// Rules that are no wrapper's to weaken are weakened where the provider's modules meet.
vi.mock(import("../../provider/lifecycle/ownership/mark.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    isCopy: (...given) => !isOff("copies are distinguished") && actual.isCopy(...given),
  };
});

vi.mock(import("../../provider/lifecycle/update.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    leftovers: (declared, objects, keep, states) =>
      isOff("copies are distinguished")
        ? ownObjects(declared, objects, states).filter(({ id }) => id !== keep.id)
        : actual.leftovers(declared, objects, keep, states),
  };
});

vi.mock(import("../../provider/lifecycle/body.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    desiredBody: (declared, ...given) => {
      const desired = actual.desiredBody(declared, ...given);
      return isOff("a body shows whether it carries the mark")
        ? { ...desired, isMarked: declared.mark !== undefined }
        : desired;
    },
  };
});

vi.mock(import("../../provider/definition/merge.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    mergeFields: (merge) => {
      if (isOff("what is not declared stays"))
        return { body: merge.desired, undeclared: [], hidden: [] };
      if (isOff("what left extra goes")) return actual.mergeFields({ ...merge, prior: {} });
      const merged = actual.mergeFields(merge);
      return isOff("hidden members are refused") ? { ...merged, hidden: [] } : merged;
    },
  };
});

vi.mock(import("../../provider/definition/meaning.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    sameMeaning: (field, live, prior) =>
      isOff("meaning is compared")
        ? isDeepStrictEqual(live, prior)
        : actual.sameMeaning(field, live, prior),
  };
});

vi.mock(import("../../provider/lifecycle/existing.js"), async (original) => {
  const actual = await original();
  return {
    ...actual,
    adoptee: async (declared, known) => {
      try {
        return await actual.adoptee(declared, known);
      } catch (error) {
        const isSeveral = isConversationError(error, "AMBIGUOUS");
        if (!isSeveral || !isOff("one of several is not chosen")) throw error;
        const [, id = ""] = /adopt: "(.*?)"/.exec(error.message) ?? [];
        return { ...(await declared.service.read(declared.definition, id)), id };
      }
    },
  };
});

let stage: ModelStage;

beforeAll(async () => {
  stage = await openStage();
});
afterEach(() => switchOff());
afterAll(() => stage.emulator.close());

/** As many releases did: whatever carries the mark of an object that could not be written must go. */
const removeTwins = async (
  service: Service,
  ...[definition, id]: Parameters<Service["replace"]>
): Promise<void> => {
  const { objects } = await service.list(definition, { fresh: true });
  const mark = markOn(objects.get(id) ?? {});
  for (const [other, wire] of objects) {
    const there = markOn(wire);
    if (mark && there && other !== id && isSameResource(mark, there))
      await service.remove(definition, other).catch(() => undefined);
  }
};

interface Weakened extends Weakness {
  readonly off?: Rule;
  readonly focus?: Focus;
  /** Where the random histories begin, if another place than 1 leads to a counter-example sooner. */
  readonly seed?: number;
}

const weaknesses: Readonly<Record<string, Weakened>> = {
  "without marks": {
    settings: { ownershipMark: "none" },
    focus: (history) => ({ ...history, setting: plainSetting }),
    seed: 7,
  },
  "with no memory of what the program wants": {
    run: (run) => ({ ...run, decisions: { ...run.decisions, keeps: () => false } }),
  },
  "repeating a POST blindly": {
    focus: failing("cut-after"),
    service: (service) => ({
      ...service,
      create: async (definition, body) =>
        service.create(definition, body).catch(() => service.create(definition, body)),
    }),
    seed: 5,
  },
  "not looking before a POST": {
    service: (service) => ({
      ...service,
      list: async () => ({ objects: new Map(), complete: true }),
    }),
  },
  "taking a name for ownership": { inputs: { adopt: true } },
  "not looking who stands in the way of a deletion": {
    service: (service) => ({
      ...service,
      remove: async (definition, id) =>
        service.remove(definition, id).catch((error) => {
          throw isConversationError(error, "REJECTED") ? new Error("refused") : error;
        }),
    }),
  },
  "taking copies for leftovers": {
    off: "copies are distinguished",
    focus: byHand((place) => ({ type: "copy", place, age: "soon", isRenamed: true })),
    seed: 34,
  },
  "taking marks that are on for marks that are there": {
    off: "a body shows whether it carries the mark",
    focus: (history) => saying("1000")(failing("cut-after")(history)),
    seed: 16,
  },
  "removing what carries the mark when a PUT is refused": {
    focus: copiedAndRefused,
    service: (service) => ({
      ...service,
      replace: async (...given) => {
        try {
          return await service.replace(...given);
        } catch (error) {
          if (isConversationError(error, "REJECTED")) await removeTwins(service, ...given);
          throw error;
        }
      },
    }),
  },
  "wiping what is not declared": { off: "what is not declared stays", seed: 51 },
  "leaving what left extra": { off: "what left extra goes", seed: 4 },
  "erasing what is hidden": {
    off: "hidden members are refused",
    focus: byHand((place) => ({ type: "set", place: place + 2, member: 0 })),
    seed: 7,
  },
  "comparing text, not meaning": { off: "meaning is compared" },
  "adopting the first of several": {
    off: "one of several is not chosen",
    focus: severalAlike,
  },
  "not looking at the states": {
    run: (run) => ({ ...run, states: async () => undefined }),
    seed: 4,
  },
  "losing an id to a list that fails": {
    service: (service) => ({
      ...service,
      create: async (definition, body) => {
        const made = await service.create(definition, body);
        await service.list(definition, { fresh: true });
        return made;
      },
    }),
    seed: 6,
  },
};

test.each(Object.entries(weaknesses))(
  "%s a counter-example is found within 2,000",
  { timeout: 600_000 },
  async (title, { off, seed = 1, focus = (history) => history, ...weakness }) => {
    switchOff(off);
    const property = fc.asyncProperty(scenario.map(focus), async (each) => {
      const { wrong } = await play(stage, each, weakness);
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
    });
    const result = await fc.check(property, { numRuns: 2000, seed, endOnFailure: true });
    console.log(`${title}: after ${result.numRuns}: ${String(result.errorInstance).slice(0, 300)}`);
    switchOff();
    const [found] = result.counterexample ?? [];
    if (!found) throw new Error("there is none");
    // The same history ends well where every rule holds.
    expect((await play(stage, found)).wrong).toEqual([]);
  },
);
