import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import type { StateResource } from "../../cli/pulumi/stack-documents.js";
import type { Emulator } from "../../emulator/index.js";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { asText } from "../../provider/kernel/json.js";
import {
  parentsIn,
  pluginToken,
  providerToken,
  tokenParts,
  typeToken,
  urnParts,
} from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import type {
  HttpRequest,
  HttpResponse,
  Method,
  Transport,
} from "../../provider/service/transport.js";
import { faultyTransport } from "../model/faulty-transport.js";
import type { MovingHistory } from "../model/moves.js";
import { type ModelStage, openStage, playWith } from "../model/play.js";
import { playMovesWith } from "../model/played-moves.js";
import {
  modelResources,
  movingStacks,
  type Name,
  partsOf,
  type Scenario,
  type StateEdit,
  urnOfName,
} from "../model/scenario.js";
import type { EngineStep, EngineUp, RunEnding, Stacks, Took } from "../model/stacks.js";
import { movedName, siblingOf } from "../model/state-edits.js";
import { declaredInputs } from "../model/values.js";
import type { HeldEntry } from "../model/verdict.js";
import { type CliProject, cliProject, withoutPace } from "./cli-project.js";
import { doorOfTests } from "./door.js";
import { closeServer, listenHere, originOf } from "./loopback-server.js";
import { deliverPlugin, pluginSettings } from "./plugin-delivery.js";
import { killTree } from "./processes.js";

/** Stands in front of a service and hands every call to a transport, faults and all. */
interface ReplayProxy {
  readonly origin: string;
  /** From now on calls go through this one. */
  lead(transport: Transport): void;
  close(): Promise<void>;
}

/** What concerns one connection only. */
const hopByHop = new Set([
  "host",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
]);

const passedOn = <T>(headers: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)));

const requestOf = async (incoming: IncomingMessage, target: string): Promise<HttpRequest> => {
  const body = await text(incoming);
  const headers = Object.entries(passedOn(incoming.headers)).map(
    ([name, value]) => [name, String(value)] as const,
  );
  return {
    method: incoming.method as Method,
    url: target + incoming.url,
    headers: Object.fromEntries(headers),
    ...(body === "" ? {} : { body }),
  };
};

/** A broken answer ends before the length that its head tells. Where it has no body, it is whole. */
const reply = (outgoing: ServerResponse, { status, headers, text: body, broken }: HttpResponse) => {
  const lengthBytes = Buffer.byteLength(body) + (broken && body !== "" ? 1 : 0);
  const length = lengthBytes > 0 ? { "content-length": lengthBytes } : {};
  outgoing.writeHead(status, { ...passedOn(headers), ...length });
  if (broken && body !== "") outgoing.write(body, () => outgoing.destroy());
  else outgoing.end(body);
};

/** @param target origin of the service */
const startReplayProxy = async (target: string): Promise<ReplayProxy> => {
  let leadsTo: Transport | undefined;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = await requestOf(incoming, target);
    if (!leadsTo) throw new Error(`${request.method} ${request.url} comes between two steps`);
    reply(outgoing, await leadsTo.send(request));
  };
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await listenHere(server);
  return {
    origin: originOf(server),
    lead: (transport) => {
      leadsTo = transport;
    },
    close: async () => {
      await closeServer(server);
    },
  };
};

/** What happened in all runs of the command line so far. */
interface Tally {
  runs: number;
  kills: number;
  faults: number;
  /** Resources whose replacement was forced. */
  forced: number;
}

/** What the stacks of a scenario share. */
interface ReplayService {
  /** In front of each account. */
  readonly proxies: readonly ReplayProxy[];
  readonly tokenUrls: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly tally: Tally;
}

const errorOf = ({ code, output }: { code: number; output: string }): string =>
  code === 0 ? "" : output || `exit code ${code}`;

/** Calls one after the other, as in the model, so that the plan of a step strikes the same ones. */
const oneByOne = ["--yes", "--parallel", "1"];

/** A stack of the real engine, which plays one scenario after the other. */
class ReplayStack {
  readonly #project: CliProject;
  readonly #service: ReplayService;
  readonly #name: string;
  #former: string[] = [];
  #ownership = "";

  private constructor(project: CliProject, service: ReplayService, name: string) {
    this.#project = project;
    this.#service = service;
    this.#name = name;
  }

  /** @param names stacks of one project, the first of which is `prod` */
  static async open(service: ReplayService, names = ["prod"]): Promise<readonly ReplayStack[]> {
    const project = await cliProject(replayProgram, service.environment, {
      ownCache: true,
      door: "dynamic",
    });
    const { folder } = project;
    writeFileSync(
      join(folder, "Pulumi.yaml"),
      JSON.stringify(pluginSettings(deliverPlugin(folder))),
    );
    for (const name of names.slice(1)) await project.succeed(["stack", "init", name]);
    cpSync(join(folder, "backend"), join(folder, "fresh"), { recursive: true });
    return names.map((name) => new ReplayStack(project, service, name));
  }

  remove(): void {
    this.#project.remove();
  }

  /** As it was before its first run. */
  reset(): void {
    const { folder } = this.#project;
    for (const name of ["backend", "cache"])
      rmSync(join(folder, name), { recursive: true, force: true });
    cpSync(join(folder, "fresh"), join(folder, "backend"), { recursive: true });
    this.#former = [];
    this.#ownership = "";
  }

  held(): HeldEntry {
    const { resources, all } = this.#state();
    return {
      ownership: this.#ownership,
      former: this.#former,
      ids: new Map([...resources].map(([name, { id }]) => [name, id])),
      all,
      owners: new Map([...resources].map(([name, { owner }]) => [name, owner])),
    };
  }

  /** @param dest the other stack */
  async edit({ type, name }: StateEdit, dest: ReplayStack): Promise<boolean> {
    const { urn } = this.#state().resources.get(name) ?? {};
    const taken = type === "move" ? dest.held().ids.has(movedName(name)) : false;
    const to = type === "rename" ? siblingOf(name) : name;
    if (!urn || taken || !to || (to !== name && this.held().ids.has(to))) return false;
    const args = {
      rename: ["rename", urn, partsOf(to).logical, "--stack", this.#name],
      move: ["move", "--source", this.#name, "--dest", dest.#name, urn],
      forget: ["delete", urn, "--force", "--stack", this.#name],
    }[type];
    const { code } = await this.#project.pulumi(["state", ...args, "--yes"]);
    return code === 0;
  }

  /** Takes a step; `earlier` holds the answers of lists so far. */
  async run(step: EngineStep, earlier: Map<string, HttpResponse>): Promise<Took> {
    const state = this.#state();
    const isIdle = state.isEmpty && (step.type === "refresh" || step.program.length === 0);
    if (isIdle) return { error: "", calls: [] };
    const kill = step.type === "up" ? step.kill : undefined;
    const plan = { faults: step.faults, kill };
    const transport = faultyTransport(plan, this.#service.tokenUrls, earlier);
    for (const proxy of this.#service.proxies) proxy.lead(transport);
    try {
      const error = await this.#pulumi(step, state, transport.death);
      const isPreviewed = step.type === "up" && step.preview === true && error !== "killed";
      const isRefused = isPreviewed && error !== "" && !error.includes("Updating (");
      return { error, calls: transport.calls, isRefused };
    } finally {
      await transport.close();
      this.#count(transport.struck);
      this.#state();
    }
  }

  async #pulumi(step: EngineStep, state: ReplayState, death: Promise<never>): Promise<string> {
    const environment = step.type === "up" ? { DECLARED: declaration(step, this.#name) } : {};
    const options = [
      ...this.#replaced(step, state),
      ...(step.type === "up" && step.preview ? [] : ["--skip-preview"]),
      ...this.#only(step, state),
    ];
    const { child, ended } = this.#project.start(
      [step.type, "--stack", this.#name, ...oneByOne, ...options],
      environment,
    );
    try {
      return errorOf(await Promise.race([ended, death]));
    } catch {
      killTree(child);
      await ended;
      await this.#project.release(this.#name);
      return "killed";
    }
  }

  #replaced(step: EngineStep, { resources }: ReplayState): readonly string[] {
    if (step.type === "refresh") return [];
    const urns = new Set(
      step.force
        .filter((name) => step.program.some((declared) => declared.name === name))
        .flatMap((name) => resources.get(name)?.urn ?? []),
    );
    this.#service.tally.forced += urns.size;
    return [...urns].flatMap((urn) => ["--replace", urn]);
  }

  /** `--target` and `--exclude`; what the program's resources need is a target as well. */
  #only(step: EngineStep, { resources }: ReplayState): readonly string[] {
    if (step.type === "refresh" || !step.only) return [];
    const { option, names } = step.only;
    const urns = names.map((name) => urnOfName(this.#name, name, "dynamic"));
    const parts = step.program.map(({ name }) => partsOf(name));
    const known = [...resources.keys()].map(partsOf);
    const place = `urn:pulumi:${this.#name}::shop::`;
    const isNew = (has: (each: ReturnType<typeof partsOf>) => boolean): boolean =>
      parts.some(has) && !known.some(has);
    const needed = [
      isNew(({ door }) => door === "dynamic") ? `${typeToken("Ownership")}::ownership` : "",
      isNew(({ parents }) => parents !== "") ? "shop:index:Box::box" : "",
    ].flatMap((each) => (each ? [place + each] : []));
    const all = option === "target" ? [...urns, ...needed] : urns;
    return all.flatMap((urn) => [`--${option}`, urn]);
  }

  /** An ownership is remembered, as it goes with the last resource of a program. */
  #state(): ReplayState {
    const state = readReplayState(this.#project.held(this.#name).resources);
    if (state.ownership !== this.#ownership) {
      if (this.#ownership) this.#former.push(this.#ownership);
      this.#ownership = state.ownership;
    }
    return state;
  }

  #count({ faults, kills }: { readonly faults: number; readonly kills: number }): void {
    const { tally } = this.#service;
    tally.runs += 1;
    tally.faults += faults;
    tally.kills += kills;
  }
}

/** Stands for the resource of that name among the inputs. */
const reference = "ref:";
/**
 * DECLARED holds what the program declares, as {@link declaration} writes it. Each resource is
 * registered when the one before is settled, so that calls come in the order of the model.
 */

const replayProgram = `
const { ComponentResource, CustomResource } = require("@pulumi/pulumi");
const c = require("pulumi-conversation");
const made = {};
const resolved = (value) => {
  if (typeof value === "string") return value.startsWith("${reference}") ? made[value.slice(${reference.length})] : value;
  if (Array.isArray(value)) return value.map(resolved);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolved(member)]));
};
const { declared, deleteBeforeReplace } = JSON.parse(process.env.DECLARED);
module.exports = async () => {
  const box = declared.some(({ inBox }) => inBox) ? new ComponentResource("shop:index:Box", "box") : undefined;
  for (const { kind, name, logical, token, inBox, inputs, options } of declared) {
    const opts = { ...options, deleteBeforeReplace, ...(inBox ? { parent: box } : {}) };
    const values = resolved(inputs);
    made[name] = token ? new CustomResource(token, logical, values, opts) : new c[kind](logical, values, opts);
    await new Promise((settled) => made[name].urn.apply(settled));
  }
};
`;
/** What the program of a step declares; what is referred to comes first. */

const declaration = (step: EngineUp, stack: string): string => {
  const idOf = (name: Name): string => step.ids?.get(name) ?? reference + name;
  const declared = setUpOrder(resources).flatMap(({ kind }) =>
    step.program
      .filter(({ name }) => modelResources[name].kind === kind)
      .map((each) => {
        const { name, protect, retainOnDelete, ignoresAll } = each;
        const { door = doorOfTests, parents, logical } = partsOf(name);
        const aliases = step.aliases?.[name]?.map((former) => urnOfName(stack, former, "dynamic"));
        return {
          ...{ kind, name, logical, inBox: parents !== "" },
          ...(door === "plugin" ? { token: pluginToken(kind) } : {}),
          inputs: declaredInputs(step.stack, each, idOf),
          options: {
            ...{ aliases, protect, retainOnDelete },
            ignoreChanges: ignoresAll ? ["*"] : undefined,
          },
        };
      }),
  );
  return JSON.stringify({ declared, deleteBeforeReplace: step.deleteFirst });
};

/** What the state of a stack tells of a scenario's resources. */
interface ReplayState {
  /** Id of the `Ownership`; empty where there is none. */
  readonly ownership: string;
  /** Resources, without those that a replacement has still to delete or to make again. */
  readonly resources: ReadonlyMap<
    Name,
    { readonly id: string; readonly urn: string; readonly owner: string }
  >;
  readonly all: ReadonlySet<string>;
  /** Whether there is anything at all, what replacements left included. */
  readonly isEmpty: boolean;
}
const isName = (text: string): text is Name => text in modelResources;

/** The resource of a URN: under its logical name, or where it stands. */
const nameOf = (urn: string): string => {
  const { type, name } = urnParts(urn);
  const place = `${tokenParts(type)?.door} ${parentsIn(urn) ? "box " : ""}${name}`;
  return isName(name) ? name : place;
};

const readReplayState = (all: readonly StateResource[]): ReplayState => {
  const named = all.flatMap(
    ({ urn, id = "", delete: isOld, pendingReplacement: isGone, outputs }) => {
      const name = nameOf(urn);
      const owner = asText(outputs?.owner);
      return isName(name) && !isOld && !isGone ? [[name, { id, urn, owner }] as const] : [];
    },
  );
  return {
    ownership:
      all.find(({ type }) => type === typeToken("Ownership"))?.id ??
      asText(all.find(({ type }) => type === providerToken)?.inputs?.ownership),
    resources: new Map(named),
    all: new Set(all.map(({ id = "" }) => id)),
    isEmpty: all.length === 0,
  };
};

/** Both stacks of a history under the real engine: a state each, and for moves a name each. */
class ReplayStacks implements Stacks {
  readonly #stacks: readonly ReplayStack[];
  readonly #earlier = new Map<string, HttpResponse>();

  constructor(stacks: readonly ReplayStack[]) {
    this.#stacks = stacks;
  }

  held(): readonly HeldEntry[] {
    return this.#stacks.map((stack) => stack.held());
  }

  async run(step: EngineStep): Promise<Took> {
    const stack = this.#stacks[step.stack];
    if (!stack) throw new Error("no such stack");
    return stack.run(step, this.#earlier);
  }

  async edit(step: StateEdit): Promise<boolean> {
    const [stack, other] = [this.#stacks[step.stack], this.#stacks[1 - step.stack]];
    return stack !== undefined && other !== undefined && stack.edit(step, other);
  }
}

/** The model's stage, and beside it the real engine. */
export interface ReplayStage {
  readonly stage: ModelStage;
  readonly tally: Tally;
  replay(scenario: Scenario): Promise<RunEnding>;
  /** Plays moves through the real engine. */
  replayMoves(history: MovingHistory): Promise<RunEnding>;
  close(): Promise<void>;
}

/** An account behind a proxy, and the settings of a program for it. */
const proxied = async (emulator: Emulator) => {
  const { origin, pathname } = new URL(emulator.baseUrl);
  const proxy = await startReplayProxy(origin);
  const access = { ...emulator, baseUrl: proxy.origin + pathname };
  // Nothing here is about rates: no call waits for its turn.
  return { proxy, environment: { ...emulatorEnvironment(access), ...withoutPace } };
};

const serviceOf = async ({ emulator, far }: ModelStage): Promise<ReplayService> => {
  const [near, other] = await Promise.all([proxied(emulator), proxied(far)]);
  const profiled = Object.entries(other.environment).map(([name, value]) => [
    name.replace("CONVERSATION_", "CONVERSATION_FAR_"),
    value,
  ]);
  return {
    proxies: [near.proxy, other.proxy],
    tokenUrls: [emulator.tokenUrl, far.tokenUrl],
    environment: { ...near.environment, ...Object.fromEntries(profiled) },
    tally: { runs: 0, kills: 0, faults: 0, forced: 0 },
  };
};

export const openReplayStage = async (): Promise<ReplayStage> => {
  const stage = await openStage();
  const service = await serviceOf(stage);
  const stacks = (await Promise.all([1, 2].map(() => ReplayStack.open(service)))).flat();
  const moving = await ReplayStack.open(service, [...movingStacks]);
  const onNew = (used: readonly ReplayStack[]): ReplayStacks => {
    for (const stack of used) stack.reset();
    return new ReplayStacks(used);
  };
  return {
    stage,
    tally: service.tally,
    replay: (scenario) => playWith(stage, onNew(stacks), scenario),
    replayMoves: (history) => playMovesWith(stage, onNew(moving), history),
    close: async () => {
      for (const stack of [...stacks, ...moving]) stack.remove();
      await Promise.all(service.proxies.map((proxy) => proxy.close()));
      await stage.close();
    },
  };
};
