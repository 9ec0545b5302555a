import type { Definition } from "../../../provider/definition/define.js";
import { deletionOrder, naturalKey, setUpOrder } from "../../../provider/definition/kinds.js";
import type { Lifecycle } from "../../../provider/lifecycle/index.js";
import { resources } from "../../../provider/resources/index.js";
import type { Stage } from "../../matrix/support/stage.js";
import { handedBack } from "../../support/door.js";
import { owned } from "../../support/emulated.js";
import { bound, type Form, formsOf, type Json } from "../../support/forms.js";

/** Everything in the service, in the order of the collections. */
export const objectsAt = async ({ hub }: Stage): Promise<readonly Json[]> =>
  (await Promise.all(resources.map(({ collection }) => hub.objects(collection)))).flat();

export const idsAt = async (stage: Stage): Promise<unknown[]> =>
  (await objectsAt(stage)).map(({ id }) => id).sort();

/** What an operation that must fail says. */
export const failureOf = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("nothing failed");
  return error.message;
};

/** An entry of a stack's state. */
export interface Held {
  readonly form: Form;
  readonly id: string;
  readonly state: Json;
}

type Run = (kind: string) => Lifecycle;

/** The life of one stack that declares every kind in every form. */
export class Life {
  readonly held: Held[] = [];

  constructor(
    readonly ownership: string,
    /** Part of every name, so that stacks do not claim each other's. */
    readonly word: string,
  ) {}

  /** What the program declares, as the engine hands it over. */
  inputs({ definition, name, values }: Form, changes: Json = {}): Json {
    const key = naturalKey(definition);
    const unique = { [key]: `${values[key]}-${this.word}` };
    const given = bound({ ...values, ...unique, ...changes }, (kind) => this.#idOf(kind));
    return owned(name, given as Json, this.ownership);
  }

  #idOf(kind: string): string {
    const entry = this.held.find(({ form }) => form.definition.kind === kind);
    return entry?.id ?? "nothing-yet";
  }

  async #checked(run: Run, form: Form, changes: Json = {}, olds: Json = {}): Promise<Json> {
    const given = this.inputs(form, changes);
    const checked = await run(form.definition.kind).check(olds, given);
    if (checked.failures.length > 0) throw new Error(JSON.stringify(checked.failures));
    return handedBack(checked.inputs);
  }

  async create(run: Run, form: Form, changes: Json = {}): Promise<Held> {
    const result = await run(form.definition.kind).create(await this.#checked(run, form, changes));
    const entry = { form, id: result.id, state: handedBack(result.outs) };
    this.held.push(entry);
    return entry;
  }

  async up(run: Run): Promise<void> {
    for (const kind of setUpOrder(resources)) {
      await Promise.all(formsOf(kind).map((form) => this.create(run, form)));
    }
  }

  async refresh(run: Run): Promise<void> {
    await Promise.all(
      this.held.map(({ form, id, state }) => run(form.definition.kind).read(id, state)),
    );
  }

  async update(run: Run, changes: Json): Promise<void> {
    await Promise.all(this.held.map((entry) => this.change(run, entry, changes)));
  }

  async change(run: Run, { form, id, state }: Held, changes: Json): Promise<void> {
    const news = await this.#checked(run, form, changes, state);
    await run(form.definition.kind).diff(id, state, news);
    await run(form.definition.kind).update(id, state, news);
  }

  async destroy(run: Run): Promise<void> {
    for (const kind of deletionOrder(resources)) {
      await Promise.all(this.#of(kind).map(({ id, state }) => run(kind.kind).delete(id, state)));
    }
  }

  #of({ kind }: Definition): readonly Held[] {
    return this.held.filter(({ form }) => form.definition.kind === kind);
  }
}
