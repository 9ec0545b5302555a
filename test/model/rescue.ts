import { type ModelResource, modelResources, type Name } from "./scenario.js";
import type { Aliases, EngineUp, Stacks } from "./stacks.js";
import type { ThirdParty } from "./third-party.js";
import { nameAtService } from "./values.js";
import { isMarked } from "./verdict.js";

/** What a person adds to the program or to the command. */
export interface Help extends Pick<EngineUp, "eraseHidden"> {
  readonly adopts: Map<Name, true | string>;
  readonly first: Name[];
  aliases: Aliases;
  /** Resources that get a third name in between, as two swap theirs. */
  readonly between: Set<Name>;
  eraseHidden: boolean;
}

const idsIn = (error: string): readonly string[] => [
  ...new Set(error.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []),
];

const isName = (text: string | undefined): text is Name =>
  text !== undefined && text in modelResources;

/** Somebody who reads why a run failed and does what it says. */
export class Rescue {
  readonly #stacks: Stacks;
  readonly #third: ThirdParty;
  readonly #sweep: () => Promise<void>;
  readonly #help = [0, 1].map(
    (): Help => ({
      adopts: new Map(),
      first: [],
      aliases: {},
      between: new Set(),
      eraseHidden: false,
    }),
  );
  readonly #sight: boolean;
  /** Why the last run of each stack failed. */
  readonly #last = new Map<number, string>();
  readonly #moved = new Set<Name>();
  #hidden = 0;

  /** @param sight whether runs see the states */
  constructor(stacks: Stacks, third: ThirdParty, sight: boolean, sweep: () => Promise<void>) {
    this.#sight = sight;
    this.#stacks = stacks;
    this.#third = third;
    this.#sweep = sweep;
  }

  help(stack: 0 | 1): Help | undefined {
    return this.#help[stack];
  }

  async after(error: string, stack: 0 | 1, program: readonly ModelResource[]): Promise<void> {
    const help = this.#help[stack];
    if (!help) return;
    const ids = idsIn(error);
    const [failed] = program
      .map((declared) => ({
        declared,
        at: error.indexOf(JSON.stringify(nameAtService(stack, declared))),
      }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
    if (error.includes("the service does not show")) return this.#showHidden(ids, help);
    for (const id of ids)
      if (this.#third.own.has(id)) await this.#third.stepAside(id, this.#stacks.held());
    const other = /another resource in this program: \w+ "(\w+)"/.exec(error)?.[1];
    if (isName(other)) help.first.unshift(other);
    const former = /aliases: \["urn:[^"]*::(\w+)"\]/.exec(error)?.[1];
    if (isName(former) && failed && error.includes("in the state of this stack"))
      this.#alias(former, failed.declared.name, stack, program, help);
    if (error.includes("in the state of the stack") && failed)
      this.#moveBack(failed.declared.name, stack, help);
    const isStuck = this.#last.get(stack) === error;
    this.#last.set(stack, error);
    // What has no mark may hold what `orphans` would remove: it says so, and a person looks.
    const shown = isStuck ? (await this.#third.live()).map(({ id }) => id) : ids;
    await this.#strays(error, shown, failed?.declared.name, help);
    if (/(in|of) this stack|orphans/.test(error)) await this.#sweep();
    if (!this.#sight && error.includes("orphans")) await this.#nameAside(ids);
  }

  /** Who sees no states cannot free a name from a leftover that others still refer to. */
  async #nameAside(ids: readonly string[]): Promise<void> {
    const known = new Set(this.#stacks.held().flatMap((each) => [...each.ids.values()]));
    for (const id of ids) if (!known.has(id)) await this.#third.rename(id);
  }

  /** In turn: the member goes by hand, or the program lets it go. */
  async #showHidden(ids: readonly string[], help: Help): Promise<void> {
    this.#hidden += 1;
    if (this.#hidden % 2 === 0) {
      help.eraseHidden = true;
      this.#third.forgive(({ member }) => member.isSecret === true);
    } else for (const id of ids) await this.#third.takeAway(id);
  }

  /** Once only: what both stacks want would go back and forth. */
  #moveBack(name: Name, stack: 0 | 1, { between }: Help): void {
    const from = stack === 0 ? 1 : 0;
    const isDone =
      !this.#moved.has(name) && this.#stacks.edit?.({ type: "move", stack: from, name });
    this.#moved.add(name);
    if (!isDone) between.add(name);
  }

  #alias(
    former: Name,
    now: Name,
    stack: 0 | 1,
    program: readonly ModelResource[],
    help: Help,
  ): void {
    if (program.some(({ name }) => name === former)) help.first.unshift(former);
    // Both have an object by now: the former goes once this one has let its name go for a while.
    else if (this.#stacks.held()[stack]?.ids.has(now)) help.between.add(now);
    else help.aliases = { ...help.aliases, [now]: [former] };
  }

  /** Objects without a mark that nobody can tell whose they are: adopted where they fit, removed otherwise. */
  async #strays(
    error: string,
    ids: readonly string[],
    failed: Name | undefined,
    help: Help,
  ): Promise<void> {
    const held = this.#stacks.held();
    const known = new Set(held.flatMap((each) => [...each.ids.values()]));
    for (const each of await this.#third.live()) {
      if (!ids.includes(each.id) || known.has(each.id) || this.#third.own.has(each.id)) continue;
      if (isMarked(held, each)) continue;
      const fits = failed && error.includes(`adopt: "${each.id}"`) && !help.adopts.has(failed);
      if (fits) help.adopts.set(failed, each.id);
      else await this.#third.removeStray(each.id);
    }
  }
}
