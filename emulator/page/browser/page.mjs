import { PageState } from "./page-state.mjs";
import { CallError, readChanges, readTables } from "./server-calls.mjs";

/** @import { PageChanges } from "../changes.js" */
/** @import { FormTables } from "../form-tables.js" */

/** Between two looks while the page is in sight, in milliseconds. */
const lookEveryMs = 500;
/** After a look that failed. */
const tryAgainMs = 2_000;

/** What the forms offer depends on it. @param {PageChanges} changes */
const tablesKey = ({ cursor, switches }) => `${cursor.split("-")[0]} ${switches.platformName}`;

/** @param {unknown} error */
const callErrorOf = (error) => {
  if (error instanceof CallError) return error;
  // As a mistake of the page it is told to whoever develops it, too.
  globalThis.reportError?.(error);
  const said = error instanceof Error ? error.message : String(error);
  return new CallError(`The page cannot show this: ${said}.`, 0);
};

/** What all views share: what is known of the emulator, where the page is, and when to look again. */
export class Page {
  state = new PageState();
  /** What stands in the address behind the name of the view. @type {readonly string[]} */
  rest = [];
  #changed = () => {};
  #failed = (/** @type {CallError} */ _error) => {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #isLooking = false;
  #isAskedAgain = false;
  #tablesKey = "";

  /** @param {FormTables} tables */
  constructor(tables) {
    this.tables = tables;
  }

  /** @param {string} hash */
  go(hash) {
    location.hash = hash;
  }

  /** What went wrong with a change that was made from here; empty: nothing. @param {Promise<unknown>} change */
  problemOf(change) {
    return change.then(
      () => "",
      (error) => (error instanceof Error ? error.message : String(error)),
    );
  }

  /** @param {string} collection */
  nounOf(collection) {
    return this.tables.kinds.find((kind) => kind.collection === collection)?.noun ?? collection;
  }

  /**
   * Looks again and again as long as the page is in sight.
   *
   * @param {() => void} changed
   * @param {(error: CallError) => void} failed
   */
  watch(changed, failed) {
    this.#changed = changed;
    this.#failed = failed;
    document.addEventListener("visibilitychange", () => this.lookNow());
    this.lookNow();
  }

  /** Looks at once: something was just changed from here. */
  lookNow() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    if (this.#isLooking) this.#isAskedAgain = true;
    else void this.#look();
  }

  async #look() {
    this.#isLooking = true;
    const next = await this.#seen().then(
      () => lookEveryMs,
      (error) => {
        // Whatever it is, the next look may be better: a page that stands still says nothing.
        this.#failed(callErrorOf(error));
        return tryAgainMs;
      },
    );
    this.#isLooking = false;
    const wait = this.#isAskedAgain ? 0 : next;
    this.#isAskedAgain = false;
    this.#timer = setTimeout(() => this.lookNow(), wait);
  }

  async #seen() {
    const look = this.state.look();
    const changes = await readChanges(look);
    this.state.take(changes, look.conversation);
    await this.#readTables(tablesKey(changes));
    this.#changed();
  }

  /** Another emulator, or another word of the vendor's: the forms offer other words. @param {string} key */
  async #readTables(key) {
    if (this.#tablesKey !== "" && this.#tablesKey !== key) this.tables = await readTables();
    this.#tablesKey = key;
  }
}
