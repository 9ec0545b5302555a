import type { Lifecycle } from "../../../provider/lifecycle/index.js";

/** How an operation of the life cycle ended. */
export type Outcome = "done" | "failed";

/** A life cycle that tells how its operations on the service end. */
export const watched = (lifecycle: Lifecycle, tell: (outcome: Outcome) => void): Lifecycle => {
  const noted = <T>(operation: Promise<T>): Promise<T> => {
    operation.then(
      () => tell("done"),
      () => tell("failed"),
    );
    return operation;
  };
  return {
    check: (olds, news) => lifecycle.check(olds, news),
    diff: (id, olds, news) => lifecycle.diff(id, olds, news),
    create: (inputs) => noted(lifecycle.create(inputs)),
    read: (id, properties) => noted(lifecycle.read(id, properties)),
    update: (id, olds, news) => noted(lifecycle.update(id, olds, news)),
    delete: (id, properties) => noted(lifecycle.delete(id, properties)),
  };
};
