interface Change<T> {
  readonly at: number;
  readonly id: string;
  readonly before: T | undefined;
}

/** At most twice as many changes are kept; what is older cannot be undone. */
const mostChanges = 1_000;

/** The last changes of a collection, so that it can be shown as it was. */
export class History<T extends { readonly created: string }> {
  #changes: Change<T>[] = [];

  /** @param before the object as it was; undefined where there was none */
  add(at: number, id: string, before: T | undefined): void {
    this.#changes.push({ at, id, before });
    if (this.#changes.length >= 2 * mostChanges) this.#changes = this.#changes.slice(-mostChanges);
  }

  /** The objects as they were at a moment, in the order of their creation. */
  undone(objects: ReadonlyMap<string, T>, moment: number): readonly T[] {
    const earlier = new Map(objects);
    const later = this.#changes.filter(({ at }) => at > moment);
    for (const { id, before } of later.reverse()) {
      if (before) earlier.set(id, before);
      else earlier.delete(id);
    }
    return [...earlier.values()].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
  }
}
