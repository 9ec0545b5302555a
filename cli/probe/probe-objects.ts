import type { Definition } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/normalise.js";
import { deletionOrder, namingOf, naturalKey } from "../../provider/definition/references.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { listIn } from "./list-answer.js";
import type { JournalEntry, ProbeJournal } from "./probe-journal.js";
import {
  NoTenantAnswer,
  ofEveryCall,
  type TenantAnswer,
  type TenantClient,
} from "./tenant-client.js";

const sign = "Made by pulumi-conversation probe, which removes it again.";

const placeholder = /^\$\{(\w+)\}$/;

/** The object that an answer's list holds under this name. */
const namedIn = (definition: Definition, answer: TenantAnswer, name: string) => {
  const { items } = listIn(answer, definition.listKey);
  const key = nameMember(definition);
  return { items, found: items.find((item) => item[key] === name) };
};

/** The member that holds the name of an object of the kind. */
export const nameMember = (definition: Definition): string => namingOf(definition).wire;

const mostPages = 200;

/** Pauses between looks for an object whose creation was never answered, in milliseconds. */
const patient = [1_000, 2_000, 4_000];

/** Whether a call was refused for what it says. */
const isRefusal = ({ status }: TenantAnswer): boolean =>
  status >= 400 && status < 500 && !ofEveryCall.includes(status);

const idIn = (value: unknown): string | undefined => {
  const id = isObject(value) ? value.id : undefined;
  return typeof id === "string" || typeof id === "number" ? `${id}` : undefined;
};

/** The objects of a probe: made when they are needed, written down before, and all removed again. */
export class ProbeObjects {
  #serial = 0;
  /** Whether what is new does not appear in a list in time: then it cannot be looked for. */
  listsLag = false;
  readonly #first = new Map<string, string>();

  constructor(
    private readonly client: TenantClient,
    private readonly journal: ProbeJournal,
  ) {
    this.#reserve();
  }

  /** A name that nobody has and everybody recognises. */
  newName(definition: Definition): string {
    this.#serial += 1;
    const sample = definition.example[naturalKey(definition)];
    const prefix = typeof sample === "string" && sample.startsWith("custom.") ? "custom." : "";
    return `${prefix}pulumi-conversation-probe-${this.journal.run}-${this.#serial}`;
  }

  /** A complete body of a kind, under a name of its own; what it refers to is made first. */
  async body(definition: Definition, changes: JsonObject = {}): Promise<JsonObject> {
    const references = await this.#resolved(definition.example);
    const inputs = normaliseFields(definition, isObject(references) ? references : {});
    const body = bodyOf(definition, inputs, this.client.settings);
    const described = "description" in definition.fields ? { description: sign } : {};
    const own = { ...described, [nameMember(definition)]: this.newName(definition) };
    return { ...body, ...own, ...changes };
  }

  /** Asks for an object, which is removed at the end if it was made. */
  async post(definition: Definition, body: JsonObject): Promise<TenantAnswer> {
    const { collection } = definition;
    const begun = this.journal.begin(collection, `${body[nameMember(definition)]}`);
    this.#reserve();
    const { refusals } = this.client;
    const answer = await this.client.call("POST", `/${collection}`, { body });
    const id = idIn(answer.body);
    if (id !== undefined && answer.status < 300) this.journal.made(begun, id);
    else if (isRefusal(answer)) {
      // A repeat may have been refused for the name that the call before it has taken.
      if (this.client.refusals > refusals) this.journal.refused(begun);
      else this.journal.gone(begun);
    }
    this.#reserve();
    return answer;
  }

  /** The id of an object of a kind that the probe made. @throws Error where the tenant refuses one */
  async id(definition: Definition): Promise<string> {
    const known = this.#first.get(definition.kind);
    if (known !== undefined) return known;
    const answer = await this.post(definition, await this.body(definition));
    const id = idIn(answer.body);
    if (id === undefined || answer.status >= 300)
      throw new Error(`${definition.noun} was refused (${answer.status})`);
    this.#first.set(definition.kind, id);
    return id;
  }

  /** How many objects of a kind the probe has at the tenant, those that may have been made included. */
  countOf(definition: Definition): number {
    return this.#entriesOf(definition).filter(({ refused }) => !refused).length;
  }

  /** Removes all objects of a kind now, and what uses them, as far as they can be. */
  async removeAll(definition: Definition): Promise<void> {
    const order = deletionOrder(resources);
    for (const each of order.slice(0, order.indexOf(definition) + 1))
      for (const { id } of this.#entriesOf(each)) if (id !== undefined) await this.remove(each, id);
  }

  /** Removes one of the objects now. Gives the status. */
  async remove(definition: Definition, id: string): Promise<number> {
    const { status } = await this.client.call("DELETE", `/${definition.collection}/${id}`);
    if (status < 300 || status === 404) {
      const entry = this.journal.objects.find((each) => each.id === id);
      if (entry) this.journal.gone(entry);
      if (this.#first.get(definition.kind) === id) this.#first.delete(definition.kind);
      this.#reserve();
    }
    return status;
  }

  /**
   * Removes what an earlier probe has left; an object whose creation was not answered and that no
   * list shows yet stays in the journal for `cleanUp`.
   *
   * @returns what could not be removed, a sentence for each
   */
  cleanUpFirst(): Promise<readonly string[]> {
    return this.#cleaned([], () => undefined);
  }

  /**
   * Removes everything that stands in the journal, users before what they use.
   *
   * @returns what could not be removed, a sentence for each
   */
  cleanUp(): Promise<readonly string[]> {
    return this.#cleaned(patient, (entry) => {
      if (this.listsLag && !entry.refused)
        return "its creation was not answered, and lists lag: look for it";
      this.journal.gone(entry);
      return undefined;
    });
  }

  /** @param unseen says why an object is left that no list shows; undefined: it is not */
  async #cleaned(
    pauses: readonly number[],
    unseen: (entry: JournalEntry) => string | undefined,
  ): Promise<readonly string[]> {
    this.client.startCleaning();
    const left: string[] = [];
    for (const definition of deletionOrder(resources))
      for (const entry of this.#entriesOf(definition)) {
        const became = await this.#removeEntry(definition, entry, entry.refused ? [] : pauses);
        if (became === "removed") this.journal.gone(entry);
        const why =
          became === "unseen" ? unseen(entry) : became === "removed" ? undefined : became.why;
        const id = entry.id === undefined ? "" : ` (${entry.id})`;
        if (why !== undefined) left.push(`${definition.noun} ${entry.name}${id}: ${why}`);
      }
    this.#first.clear();
    return left;
  }

  #entriesOf({ collection }: Definition): readonly JournalEntry[] {
    return this.journal.objects.filter((each) => each.collection === collection);
  }

  async #removeEntry(
    definition: Definition,
    entry: JournalEntry,
    pauses: readonly number[],
  ): Promise<"removed" | "unseen" | { readonly why: string }> {
    try {
      const id = entry.id ?? (await this.#lookedFor(definition, entry.name, pauses));
      if (id === undefined) return "unseen";
      const { status } = await this.client.call("DELETE", `/${definition.collection}/${id}`);
      if (status < 300 || status === 404) return "removed";
      return { why: `its deletion was refused (${status})` };
    } catch (error) {
      return { why: error instanceof NoTenantAnswer ? error.message : "its deletion failed" };
    }
  }

  /** The id of an object whose creation was never answered; a list may lag behind. */
  async #lookedFor(
    definition: Definition,
    name: string,
    pauses: readonly number[],
  ): Promise<string | undefined> {
    for (const pause of [...pauses, undefined]) {
      const id = await this.#lookedUp(definition, name);
      if (id !== undefined || pause === undefined) return id;
      await this.client.sleep(pause);
    }
    return undefined;
  }

  /** The id of the object with this name in the list; undefined where there is none. */
  async #lookedUp(definition: Definition, name: string): Promise<string | undefined> {
    const seen = new Set<unknown>();
    for (let page = 1; page <= mostPages; page += 1) {
      const query = page === 1 ? {} : { query: `$pagenum=${page}` };
      const answer = await this.client.call("GET", `/${definition.collection}`, query);
      const { items, found } = namedIn(definition, answer, name);
      const id = idIn(found);
      if (id !== undefined) return id;
      if (answer.status !== 200)
        throw new NoTenantAnswer(`its list was refused (${answer.status})`);
      // A list that comes whole gives the same again, whatever page is asked for.
      const more = items.filter((item) => !seen.has(item.id));
      if (more.length === 0) return undefined;
      for (const item of more) seen.add(item.id);
      const { count } = listIn(answer, definition.listKey);
      if (count !== undefined && seen.size >= count) return undefined;
    }
    return undefined;
  }

  #reserve(): void {
    // One that was perhaps made has to be looked up first.
    this.client.reserved = this.journal.objects.reduce((sum, { id }) => sum + (id ? 1 : 2), 0);
  }

  async #resolved(value: unknown): Promise<unknown> {
    if (typeof value === "string") {
      const kind = placeholder.exec(value)?.[1];
      const definition = resources.find((each) => each.kind === kind);
      return definition ? this.id(definition) : value;
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await this.#resolved(item));
      return items;
    }
    if (!isObject(value)) return value;
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value))
      members.push([name, await this.#resolved(member)]);
    return Object.fromEntries(members);
  }
}
