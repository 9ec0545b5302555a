import type { Definition } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/normalise.js";
import { deletionOrder, naturalKey } from "../../provider/definition/references.js";
import { bodyOf, wireName } from "../../provider/definition/wire/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import type { JournalEntry, ProbeJournal } from "./probe-journal.js";
import { NoTenantAnswer, type TenantAnswer, type TenantClient } from "./tenant-client.js";

const sign = "Made by pulumi-conversation probe, which removes it again.";

const placeholder = /^\$\{(\w+)\}$/;

/** The object that an answer's list holds under this name. */
const namedIn = (definition: Definition, answer: TenantAnswer, name: string) => {
  const list = isObject(answer.body) ? answer.body[definition.listKey] : undefined;
  const items = Array.isArray(list) ? list.filter(isObject) : [];
  const key = nameMember(definition);
  return { items, found: items.find((item) => item[key] === name) };
};

/** The member that holds the name of an object of the kind. */
export const nameMember = (definition: Definition): string => {
  const key = naturalKey(definition);
  const field = definition.fields[key];
  return field ? wireName(key, field) : key;
};

const mostPages = 200;
const mostLooks = 3;

/** The objects of a probe: made when they are needed, written down before, and all removed again. */
export class ProbeObjects {
  #serial = 0;
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
    const answer = await this.client.call("POST", `/${collection}`, { body });
    const id = isObject(answer.body) ? answer.body.id : undefined;
    if (typeof id === "string" && answer.status < 300) this.journal.made(begun, id);
    else if (answer.status >= 400 && answer.status < 500) this.journal.gone(begun);
    this.#reserve();
    return answer;
  }

  /** The id of an object of a kind that the probe made. @throws Error where the tenant refuses one */
  async id(definition: Definition): Promise<string> {
    const known = this.#first.get(definition.kind);
    if (known !== undefined) return known;
    const answer = await this.post(definition, await this.body(definition));
    const id = isObject(answer.body) ? answer.body.id : undefined;
    if (typeof id !== "string" || answer.status >= 300)
      throw new Error(`${definition.noun} was refused (${answer.status})`);
    this.#first.set(definition.kind, id);
    return id;
  }

  /** How many objects of a kind the probe has at the tenant, those that may have been made included. */
  countOf({ collection }: Definition): number {
    return this.journal.objects.filter((each) => each.collection === collection).length;
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
   * Removes everything that stands in the journal, users before what they use.
   *
   * @returns what could not be removed, a sentence for each
   */
  async cleanUp(): Promise<readonly string[]> {
    this.client.startCleaning();
    const left: string[] = [];
    for (const definition of deletionOrder(resources))
      for (const entry of this.journal.objects.filter(
        ({ collection }) => collection === definition.collection,
      )) {
        const why = await this.#removeEntry(definition, entry);
        if (why === undefined) this.journal.gone(entry);
        else
          left.push(`${definition.noun} ${entry.name}${entry.id ? ` (${entry.id})` : ""}: ${why}`);
      }
    this.#first.clear();
    return left;
  }

  async #removeEntry(definition: Definition, entry: JournalEntry): Promise<string | undefined> {
    try {
      const id = entry.id ?? (await this.#lookedFor(definition, entry.name));
      if (id === undefined) return undefined;
      const { status } = await this.client.call("DELETE", `/${definition.collection}/${id}`);
      return status < 300 || status === 404 ? undefined : `its deletion was refused (${status})`;
    } catch (error) {
      return error instanceof NoTenantAnswer ? error.message : "its deletion failed";
    }
  }

  /** The id of an object whose creation was never answered; a list may lag behind. */
  async #lookedFor(definition: Definition, name: string): Promise<string | undefined> {
    for (let look = 1; look <= mostLooks; look += 1) {
      const id = await this.#lookedUp(definition, name);
      if (id !== undefined) return id;
      if (look < mostLooks) await this.client.sleep(1_000 * look);
    }
    return undefined;
  }

  /** The id of the object with this name in the list; undefined where there is none. */
  async #lookedUp(definition: Definition, name: string): Promise<string | undefined> {
    for (let page = 1; page <= mostPages; page += 1) {
      const query = page === 1 ? "" : `$pagenum=${page}`;
      const answer = await this.client.call("GET", `/${definition.collection}`, {
        ...(query === "" ? {} : { query }),
      });
      const { items, found } = namedIn(definition, answer, name);
      if (typeof found?.id === "string") return found.id;
      if (answer.status !== 200)
        throw new NoTenantAnswer(`its list was refused (${answer.status})`);
      const info = isObject(answer.body) ? answer.body.paginationInfo : undefined;
      const { count, pagesize } = isObject(info) ? info : {};
      const isLast = typeof count === "number" && page * Number(pagesize) >= count;
      if (items.length === 0 || isLast) return undefined;
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
