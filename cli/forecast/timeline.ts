interface Event {
  readonly at: number;
  readonly number: number;
  readonly happen: () => void;
}

const isBefore = (a: Event, b: Event): boolean =>
  a.at < b.at || (a.at === b.at && a.number < b.number);

/** Simulated time: what is due happens in the order of time, and else in the order it was asked for. */
export class Timeline {
  /** Seconds since the start. */
  now = 0;
  /** A heap: each event comes before those at twice its place and one, and twice its place and two. */
  readonly #events: Event[] = [];
  #numbers = 0;

  at(time: number, happen: () => void): void {
    const event = { at: Math.max(time, this.now), number: this.#numbers++, happen };
    const events = this.#events;
    let place = events.length;
    while (place > 0) {
      const above = events[(place - 1) >> 1];
      if (!above || isBefore(above, event)) break;
      events[place] = above;
      place = (place - 1) >> 1;
    }
    events[place] = event;
  }

  /** Lets time pass until nothing is left to happen. */
  run(): void {
    for (let next = this.#take(); next; next = this.#take()) {
      this.now = next.at;
      next.happen();
    }
  }

  #take(): Event | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (first && last && events.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: Event): void {
    const events = this.#events;
    let place = 0;
    for (;;) {
      const [left, right] = [events[2 * place + 1], events[2 * place + 2]];
      const next = right && left && isBefore(right, left) ? 2 * place + 2 : 2 * place + 1;
      const below = events[next];
      if (!below || isBefore(event, below)) break;
      events[place] = below;
      place = next;
    }
    events[place] = event;
  }
}
