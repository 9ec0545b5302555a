import { randomBytes } from "node:crypto";
import { clockKinds, createClock, type EmulatorClock } from "../clock.js";
import { Faults } from "../control/faults.js";
import { dataFileError, sqliteJournal } from "../control/sqlite-journal.js";
import { parseSwitches, type Switches, switchesFrom } from "../control/switches.js";
import { Buckets } from "../http/buckets.js";
import { CallLog } from "../http/call-log.js";
import { scopes } from "../http/endpoints.js";
import { type PlanName, planNames } from "../http/rates.js";
import { Runtime } from "../runtime/runtime.js";
import { Clients } from "../token/clients.js";
import { Tokens } from "../token/tokens.js";
import { isStoredObject } from "./collections.js";
import { type Journal, noJournal, Store } from "./store.js";

/** How an emulator is set up. */
export interface WorldOptions {
  readonly plan?: PlanName;
  readonly burst?: number;
  readonly clock?: EmulatorClock["kind"];
  readonly data?: string;
  readonly switches?: Partial<Switches>;
  /** Milliseconds of real time in which a callback must answer. Default: 5,000 (public reference). */
  readonly callbackDeadlineMs?: number;
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
  /** Conversations, deliveries and assets. */
  readonly runtime: Runtime;
  switches: Switches;
  /** Credentials of the client that is always there. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Ends deliveries that are on their way, then the data file. */
  close(): void;
}

const clientId = "emulator";

const savedSwitches = (journal: Journal): Partial<Switches> =>
  parseSwitches(Object.fromEntries(journal.read("switch")));

const assertOptions = (options: WorldOptions): void => {
  const { plan = "none", burst, clock = "real", callbackDeadlineMs = 1 } = options;
  if (!planNames.includes(plan))
    throw new Error(`There is no plan ${plan}. Plans: ${planNames.join(", ")}.`);
  if (burst !== undefined && !(Number.isSafeInteger(burst) && burst >= 1))
    throw new Error("burst must be a whole number of calls, at least 1.");
  if (!clockKinds.includes(clock))
    throw new Error(`There is no clock ${clock}. Clocks: ${clockKinds.join(", ")}.`);
  if (!(Number.isFinite(callbackDeadlineMs) && callbackDeadlineMs > 0))
    throw new Error("callbackDeadlineMs must be a number of milliseconds above 0.");
};

/** @throws Error where an option is not allowed, with what is, or where the data file cannot be used */
export const createWorld = (options: WorldOptions): World => {
  assertOptions(options);
  const switches = parseSwitches({ ...options.switches });
  const { data } = options;
  const journal = data === undefined ? noJournal : sqliteJournal(data);
  try {
    return worldOn(journal, { ...options, switches });
  } catch (error) {
    journal.close();
    throw data === undefined ? error : dataFileError(data, error);
  }
};

const worldOn = (journal: Journal, options: WorldOptions): World => {
  const { plan = "none", burst, callbackDeadlineMs } = options;
  const plainClock = createClock(options.clock ?? "real");
  const clients = new Clients(journal, {
    clientId,
    clientSecret: randomBytes(24).toString("base64url"),
    scopes: Object.values(scopes),
  });
  const store = new Store(plainClock, journal, isStoredObject);
  const runtime = new Runtime({
    clock: plainClock,
    journal,
    store,
    switches: () => world.switches,
    ...(callbackDeadlineMs === undefined ? {} : { callbackDeadlineMs }),
  });
  const { clock } = runtime;
  const world: World = {
    clock,
    journal,
    clients,
    clientId,
    clientSecret: clients.own.clientSecret ?? "",
    store,
    runtime,
    buckets: new Buckets({ plan, burst, clock }),
    tokens: new Tokens(clock),
    faults: new Faults(),
    log: new CallLog(),
    switches: switchesFrom({ ...savedSwitches(journal), ...options.switches }),
    close: () => {
      runtime.close();
      journal.close();
    },
  };
  return world;
};

/** Turns switches and keeps them that way. */
export const turnSwitches = (world: World, given: Partial<Switches>): void => {
  world.journal.together(() => {
    for (const [name, value] of Object.entries(given)) world.journal.write("switch", name, value);
  });
  world.switches = { ...world.switches, ...given };
};
