import { deletionOrder } from "../../provider/definition/kinds.js";
import { bodyOf } from "../../provider/definition/wire.js";
import { isObject, type JsonObject as Json } from "../../provider/kernel/json.js";
import { markOn, readMark } from "../../provider/lifecycle/ownership.js";
import { markText, stackMark } from "../../provider/lifecycle/resource.js";
import { waitOutRefusals } from "../../provider/pacing/pacer.js";
import { resources } from "../../provider/resources/index.js";
import { connectService, type Service } from "../../provider/service/connect.js";
import type { Settings } from "../../provider/service/settings.js";
import { humanText, type Member, memberAt, members, withValue } from "./by-hand.js";
import type { Console, Live, LiveObject } from "./console.js";
import { type ByHand, modelResources, type Name } from "./scenario.js";
import {
  laterMs,
  membersLeftOn,
  nameMember,
  type Own,
  type SetMember,
  textOf,
} from "./set-by-hand.js";
import { declaredInputs } from "./values.js";
import type { HeldEntry } from "./verdict.js";

/** Somebody with the service's own console: sees everything, and changes what is not theirs. */
export class ThirdParty {
  readonly #service: Service;
  readonly #settings: Settings;
  readonly #console: Console;
  readonly #advance: (ms: number) => void;
  readonly #own = new Map<string, Own>();
  /** Members set by hand that must still be there. */
  set: readonly SetMember[] = [];
  /** Copies that stand for the resource of their original since that has gone: they keep what they held. */
  readonly counterparts = new Set<string>();
  #copies = 0;
  /** What was done to a person's objects that nobody may do. */
  readonly wrong: string[] = [];
  constructor(settings: Settings, console: Console, advance: (ms: number) => void) {
    this.#settings = settings;
    this.#service = connectService(settings, { pace: waitOutRefusals() });
    this.#console = console;
    this.#advance = advance;
  }

  close(): Promise<void> {
    return this.#service.close();
  }

  live(): Promise<Live> {
    return this.#console.live();
  }

  async #object(id: string): Promise<LiveObject | undefined> {
    return (await this.live()).find((each) => each.id === id);
  }

  /** Ids of the objects that are a person's. */
  get own(): ReadonlySet<string> {
    return new Set(this.#own.keys());
  }

  async take(step: ByHand, held: readonly HeldEntry[]): Promise<void> {
    if (step.type === "foreign") return this.#make(step.name, step.variant, held[0]);
    const live = await this.live();
    const target = live.filter(({ id }) => !this.#own.has(id))[step.place];
    if (!target) return;
    switch (step.type) {
      case "remove":
        return this.#remove(target);
      case "change":
        return this.#console.change(target.id, (object) => ({ ...object, active: false }));
      case "copy":
        return this.#copy(target, step);
      case "set":
        return this.#setMember(target, step.member, held);
    }
  }

  /** Makes an object under the name of a resource. Does nothing where the service refuses it. */
  async #make(name: Name, variant: number, held: HeldEntry | undefined): Promise<void> {
    const definition = resources.find(({ kind }) => kind === modelResources[name].kind);
    const isWhole = modelResources[name].refers.every((other: Name) => held?.ids.has(other));
    if (!definition || !isWhole) return;
    const inputs = declaredInputs(
      0,
      { name, variant, version: 9 },
      (other) => held?.ids.get(other) ?? "",
    );
    const type = inputs.basicAuth ? { type: "basic" } : {};
    const body = {
      ...bodyOf(definition, { ...inputs, ...type }, this.#settings),
      description: humanText,
    };
    const { id } = await this.#service.create(definition, body).catch(() => ({ id: "" }));
    await this.#claim(id);
  }

  async #claim(id: string, more: Pick<Own, "counterpartOf"> = {}): Promise<void> {
    const made = await this.#object(id);
    if (made) this.#own.set(id, { before: textOf(made.object), ...more });
  }

  async #remove({ definition, id }: LiveObject): Promise<void> {
    await this.#service.remove(definition, id).catch(() => undefined);
  }

  async #copy(
    target: LiveObject,
    { age, isRenamed }: Extract<ByHand, { readonly type: "copy" }>,
  ): Promise<void> {
    this.#advance(laterMs[age]);
    const { id: _, created: __, modified: ___, ...rest } = target.object;
    const name = nameMember(target);
    const isNew = isRenamed || target.definition.kind !== "Orchestration";
    this.#copies += 1;
    const body = isNew ? { ...rest, [name]: `${rest[name]}-copy-${this.#copies}` } : rest;
    const made = await this.#service.create(target.definition, body).catch(() => ({ id: "" }));
    const isCounterpart = !isNew && age !== "much later";
    await this.#claim(made.id, isCounterpart ? { counterpartOf: target.id } : {});
  }

  async #setMember(
    { definition, id, object }: LiveObject,
    place: number,
    held: readonly HeldEntry[],
  ): Promise<void> {
    const choice = members[definition.kind] ?? [];
    const member = choice[place % choice.length];
    if (!member) return;
    if (member.isDescription) return this.#describe({ definition, id, object }, member, held);
    const isLists = Array.isArray(member.value) || !isObject(memberAt(object, member.path));
    if (isLists && memberAt(object, member.path) !== undefined) return;
    await this.#console.change(id, (before) => {
      const value = { ...Object(memberAt(before, member.path)), ...Object(member.value) };
      return withValue(before, member.path, isObject(member.value) ? value : member.value) as Json;
    });
    this.#note({ id, member });
  }

  #note(set: SetMember): void {
    const isSame = ({ id, member: { path } }: SetMember): boolean =>
      id === set.id && path.join() === set.member.path.join();
    this.set = [...this.set.filter((each) => !isSame(each)), set];
  }

  /** Only where the program says nothing: what it says, it will say again. */
  async #describe(
    { id, object }: LiveObject,
    member: Member,
    held: readonly HeldEntry[],
  ): Promise<void> {
    const isSilent = held.some(({ ids, described }) => {
      const isHeld = [...ids.values()].includes(id);
      return isHeld && described?.has(id) === false;
    });
    if (!isSilent) return;
    const { mark } = readMark(object.description);
    const suffix = mark && member.isDescription === "before the mark" ? ` ${markText(mark)}` : "";
    await this.#console.change(id, (before) => ({ ...before, description: humanText + suffix }));
    this.#note({ id, member });
  }

  /** A run is about to declare descriptions of these objects, or lists may be behind the truth. */
  forgive(isGone: (set: SetMember) => boolean): void {
    this.set = this.set.filter((set) => !isGone(set));
  }

  /**
   * Looks after a run whether anything of a person's was touched.
   *
   * @param adopted objects that the run was told to take over
   */
  async look(adopted: ReadonlySet<string>, held: readonly HeldEntry[]): Promise<void> {
    const live = await this.live();
    const known = new Set(held.flatMap(({ ids }) => [...ids.values()]));
    for (const [id, { before, counterpartOf }] of [...this.#own]) {
      const now = live.find((each) => each.id === id)?.object;
      if (now && textOf(now) === before && !known.has(id)) continue;
      this.#own.delete(id);
      const isOriginalGone =
        counterpartOf !== undefined && !live.some((each) => each.id === counterpartOf);
      if (now && isOriginalGone) {
        this.counterparts.add(id);
        continue;
      }
      if (adopted.has(id)) for (const set of membersLeftOn(id, before, held)) this.#note(set);
      else this.wrong.push(`a person's object ${id} was ${now ? "changed or taken" : "destroyed"}`);
    }
  }

  /** Steps aside with an object of theirs, and with what uses it. */
  async stepAside(id: string, held: readonly HeldEntry[]): Promise<void> {
    await this.look(new Set(), held);
    const own = (await this.live()).filter((each) => this.#own.has(each.id));
    const target = own.find((each) => each.id === id);
    if (!target) return;
    for (const each of [target, ...[...own].reverse(), target]) {
      const isGone = await this.#service.remove(each.definition, each.id).then(
        () => true,
        () => false,
      );
      if (isGone) this.#own.delete(each.id);
      if (isGone && each === target) return;
    }
  }

  /** Goes away with everything of theirs, so that nothing of ours is used any more. */
  async leave(held: readonly HeldEntry[]): Promise<void> {
    await this.look(new Set(), held);
    for (const each of [...(await this.live())].reverse())
      if (this.#own.has(each.id)) await this.#remove(each);
    this.#own.clear();
  }

  /** Takes away the secrets that were set by hand on an object. */
  async takeAway(id: string): Promise<void> {
    const secrets = this.set.filter((each) => each.id === id && each.member.isSecret);
    for (const { member } of secrets)
      await this.#console.change(id, (object) => withValue(object, member.path, undefined) as Json);
    this.forgive((each) => secrets.includes(each));
  }

  /**
   * Removes an object that no state holds and that nobody can tell whose it is; renames it if what
   * uses it is only going to be deleted.
   */
  async removeStray(id: string): Promise<void> {
    const target = await this.#object(id);
    if (target) await this.#removeWithUsers(target);
    await this.rename(id);
  }

  /** The refusal of a deletion names who uses the object: a person's objects step aside. */
  async #removeWithUsers({ definition, id }: Pick<LiveObject, "definition" | "id">): Promise<void> {
    const remove = () => this.#service.remove(definition, id);
    await remove().catch(async () => {
      const own = (await this.live()).filter((each) => this.#own.has(each.id));
      for (const each of own.filter(({ object }) => textOf(object).includes(id))) {
        await this.#remove(each);
        this.#own.delete(each.id);
      }
      await remove().catch(() => undefined);
    });
  }

  /** Gives an object another name. */
  async rename(id: string): Promise<void> {
    const target = await this.#object(id);
    if (!target) return;
    const name = nameMember(target);
    await this.#console.change(id, (object) => ({ ...object, [name]: `${object[name]}-aside` }));
  }

  /** Removes what carries an ownership's mark and no state holds, as `orphans --delete` does, copies left out. */
  async sweep(ownership: string, known: ReadonlySet<string>): Promise<void> {
    const all = new Set([...known, ...this.#own.keys()]);
    for (const definition of deletionOrder(resources)) {
      const { objects } = await this.#service.list(definition, { fresh: true });
      for (const [id, wire] of objects) {
        if (markOn(wire)?.stack !== stackMark(ownership) || all.has(id)) continue;
        await this.#removeWithUsers({ definition, id });
      }
    }
  }
}
