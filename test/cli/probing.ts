import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CommandResult } from "../../cli/command.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type ProbeOptions, runProbe } from "../../cli/probe/run-probe.js";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import type { Clock } from "../../provider/kernel/clock.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import { findingsIn, type TenantFindings } from "../../provider/service/settings.js";
import { recordedSession } from "./session.js";
import { temporaryFolder } from "./temporary-folder.js";

/** An emulator that a probe is run on, and what it leaves. */
export interface Probing {
  readonly on: Emulator;
  /** Of this test: findings and cache are here. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Begins a probe. */
  probe(
    options?: Partial<ProbeOptions>,
    transport?: Transport,
  ): {
    readonly ended: Promise<CommandResult>;
    readonly written: { readonly out: string; readonly err: string };
    readonly interrupt: () => void;
  };
  /** Probes, and gives what was written. */
  findings(options?: Partial<ProbeOptions>): Promise<TenantFindings>;
  /** Every object that is there. */
  left(): Promise<readonly unknown[]>;
}

/** Waits move the emulator's clock. */
const clockOf = (on: Emulator): Clock => {
  let now = 0;
  return {
    now: () => now,
    wall: () => Date.now() + now,
    sleep: async (ms) => {
      now += ms;
      on.advance(ms);
    },
  };
};

/** An emulator with a manual clock, for one test. */
export const probing = async (options: EmulatorOptions = {}): Promise<Probing> => {
  const on = await startEmulator({ clock: "manual", ...options });
  onTestFinished(() => on.close());
  const folder = temporaryFolder();
  const environment = { ...emulatorEnvironment(on), XDG_CACHE_HOME: folder };
  const out = join(folder, "findings.json");
  const probe: Probing["probe"] = (given = {}, transport = httpTransport()) => {
    const { session, written, interrupt } = recordedSession();
    const parts = { clock: clockOf(on), transport, env: environment, folder };
    const ended = runProbe({ out, yes: true, ...given }, session, parts);
    return { ended, written, interrupt };
  };
  return {
    on,
    folder,
    environment,
    probe,
    findings: async (given) => {
      await probe(given).ended;
      const found = findingsIn(readFileSync(out, "utf8"));
      if (!found) throw new Error("no findings");
      return found;
    },
    left: async () => Object.values((await on.control.snapshot()).objects).flat(),
  };
};
