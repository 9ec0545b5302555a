import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import { faultyTransport } from "../model/faulty-transport.js";
import type { EngineStep, Took } from "../model/stacks.js";
import type { HeldEntry } from "../model/verdict.js";
import { type CliProject, cliProject } from "./cli-project.js";
import { killTree } from "./processes.js";
import { declaration, replayProgram } from "./replay-program.js";
import type { ReplayProxy } from "./replay-proxy.js";
import { type ReplayState, readReplayState } from "./replay-state.js";

/** What happened in all runs of the command line so far. */
export interface Tally {
  runs: number;
  kills: number;
  faults: number;
  /** Resources whose replacement was forced. */
  forced: number;
}

/** What the stacks of a scenario share. */
export interface ReplayService {
  readonly proxy: ReplayProxy;
  readonly tokenUrl: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly tally: Tally;
}

const errorOf = ({ code, output }: { code: number; output: string }): string =>
  code === 0 ? "" : output || `exit code ${code}`;

/** Calls one after the other, as in the model, so that the plan of a step strikes the same ones. */
const oneByOne = ["--yes", "--skip-preview", "--parallel", "1"];

/** A stack of the real engine, which plays one scenario after the other. */
export class ReplayStack {
  readonly #project: CliProject;
  readonly #service: ReplayService;
  #former: string[] = [];
  #ownership = "";

  private constructor(project: CliProject, service: ReplayService) {
    this.#project = project;
    this.#service = service;
  }

  static async open(service: ReplayService): Promise<ReplayStack> {
    const project = await cliProject(replayProgram, service.environment, { ownCache: true });
    cpSync(join(project.folder, "backend"), join(project.folder, "fresh"), { recursive: true });
    return new ReplayStack(project, service);
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
    const { resources } = this.#state();
    return {
      ownership: this.#ownership,
      former: this.#former,
      ids: new Map([...resources].map(([name, { id }]) => [name, id])),
    };
  }

  /** Takes a step; `earlier` holds the answers of lists so far. */
  async run(step: EngineStep, earlier: Map<string, HttpResponse>): Promise<Took> {
    const state = this.#state();
    const isIdle = state.isEmpty && (step.type === "refresh" || step.program.length === 0);
    if (isIdle) return { error: "", calls: [] };
    const kill = step.type === "up" ? step.kill : undefined;
    const plan = { faults: step.faults, kill };
    const transport = faultyTransport(plan, this.#service.tokenUrl, earlier);
    this.#service.proxy.lead(transport);
    try {
      return { error: await this.#pulumi(step, state, transport.death), calls: transport.calls };
    } finally {
      await transport.close();
      this.#count(transport.struck);
      this.#state();
    }
  }

  async #pulumi(step: EngineStep, state: ReplayState, death: Promise<never>): Promise<string> {
    const environment = step.type === "up" ? { DECLARED: declaration(step) } : {};
    const { child, ended } = this.#project.start(
      [step.type, ...oneByOne, ...this.#replaced(step, state)],
      environment,
    );
    try {
      return errorOf(await Promise.race([ended, death]));
    } catch {
      killTree(child);
      await ended;
      await this.#project.release();
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

  /** An ownership is remembered, as it goes with the last resource of a program. */
  #state(): ReplayState {
    const state = readReplayState(this.#project);
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
