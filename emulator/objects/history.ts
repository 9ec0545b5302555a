interface Change<T> {
  readonly at: number;
  readonly id: string;
  /** The object as it was; undefined where there was none. */
  readonly before: T | undefined;
  readonly weight: number;
}

/** What a value takes, about, in characters. */
const weightOf = (value: unknown): number => {
  if (typeof value === "string") return value.length + 16;
  if (typeof value !== "object" || value === null) return 8;
  let weight = 32;
  for (const member of Object.values(value)) weight += 16 + weightOf(member);
  return weight;
};

/** Most changes that can be undone. */
const mostChanges = 2_000;
/** Most that the objects of before may take, in characters: some hold pictures. */
const mostWeight = 4 * 1024 * 1024;

/** The last changes of a collection, so that it can be shown as it was; what is older cannot be undone. */
export class History<T extends { readonly id: string; readonly created: string }> {
  #changes: Change<T>[] = [];
  #weight = 0;

  add(at: number, id: string, before: T | undefined): void {
    const weight = weightOf(before);
    this.#changes.push({ at, id, before, weight });
    this.#weight += weight;
    if (this.#weight > mostWeight || this.#changes.length > 2 * mostChanges) this.#forgetOldest();
  }

  /** The objects as they were at a moment, in the order of their creation. */
  undone(objects: ReadonlyMap<string, T>, moment: number): readonly T[] {
    const earlier = new Map(objects);
    const later = this.#changes.slice(-mostChanges).filter(({ at }) => at > moment);
    for (const { id, before } of later.reverse()) {
      if (before) earlier.set(id, before);
      else earlier.delete(id);
    }
    return [...earlier.values()].sort((a, b) => Date.parse(a.created) - Date.parse(b.created));
  }

  /** Down to the half, so that it is seldom done. */
  #forgetOldest(): void {
    let from = 0;
    for (const { weight } of this.#changes) {
      const left = this.#changes.length - from;
      if (this.#weight <= mostWeight / 2 && left <= mostChanges) break;
      this.#weight -= weight;
      from += 1;
    }
    this.#changes = this.#changes.slice(from);
  }
}
