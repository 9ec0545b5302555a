import { randomBytes } from "node:crypto";
import { Buckets } from "./buckets.js";
import { CallLog } from "./call-log.js";
import { Clients } from "./clients.js";
import { createClock, type EmulatorClock } from "./clock.js";
import { isStoredObject } from "./collections.js";
import { scopes } from "./endpoints.js";
import { Faults } from "./faults.js";
import type { PlanName } from "./rates.js";
import { sqliteJournal } from "./sqlite-journal.js";
import { type Journal, noJournal, Store } from "./store.js";
import { parseSwitches, type Switches, switchesFrom } from "./switches.js";
import { Tokens } from "./tokens.js";

/** How an emulator is set up. */
export interface WorldOptions {
  readonly plan?: PlanName;
  readonly burst?: number;
  readonly clock?: EmulatorClock["kind"];
  readonly data?: string;
  readonly switches?: Partial<Switches>;
}

/** Everything that one emulator knows. */
export interface World {
  readonly clock: EmulatorClock;
  readonly journal: Journal;
  readonly store: Store;
  readonly buckets: Buckets;
  readonly clients: Clients;
  readonly tokens: Tokens;
  readonly faults: Faults;
  readonly log: CallLog;
  switches: Switches;
  /** Credentials of the client that is always there. */
  readonly clientId: string;
  readonly clientSecret: string;
}

const clientId = "emulator";

const savedSwitches = (journal: Journal): Partial<Switches> =>
  parseSwitches(Object.fromEntries(journal.read("switch")));

export const createWorld = (options: WorldOptions): World => {
  const { plan = "none", burst } = options;
  const clock = createClock(options.clock ?? "real");
  const journal = options.data === undefined ? noJournal : sqliteJournal(options.data);
  const clients = new Clients(journal, {
    clientId,
    clientSecret: randomBytes(24).toString("base64url"),
    scopes: Object.values(scopes),
  });
  return {
    clock,
    journal,
    clients,
    clientId,
    clientSecret: clients.own.clientSecret ?? "",
    store: new Store(clock, journal, isStoredObject),
    buckets: new Buckets({ plan, burst, clock }),
    tokens: new Tokens(clock),
    faults: new Faults(),
    log: new CallLog(),
    switches: switchesFrom({ ...savedSwitches(journal), ...options.switches }),
  };
};

/** Turns switches and keeps them that way. */
export const turnSwitches = (world: World, given: Partial<Switches>): void => {
  world.switches = { ...world.switches, ...given };
  for (const [name, value] of Object.entries(given)) world.journal.write("switch", name, value);
};
