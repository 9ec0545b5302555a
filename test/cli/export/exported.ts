import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { type ExportOptions, runExport } from "../../../cli/export/run-export.js";
import { type Emulator, type Switches, startEmulator } from "../../../emulator/index.js";
import { newSerial } from "../../../provider/lifecycle/ownership.js";
import { markFor, markOf, markText } from "../../../provider/lifecycle/resource.js";
import { withoutPace } from "../../support/cli-project.js";
import { EmulatorControl } from "../../support/emulator-control.js";
import { type OddAccount, oddAccount } from "../../support/odd-account.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** An account of so many objects of each kind, whose first channel carries the mark of an owner. */
export const withMarkedChannel = (count: number, owner: string): OddAccount => {
  const account = oddAccount(count);
  const [channel, ...others] = account.channels ?? [];
  const mark = markFor(markOf("Channel", owner), newSerial({ now: () => 0 }), channel?.type);
  const marked = {
    ...{ ...channel, description: `Shop ${markText(mark)}` },
    created: "1970-01-01T00:00:00.000Z",
  };
  return { ...account, channels: [marked, ...others] };
};

/** An emulator that holds an account, and an empty folder to export to. */
export const exportSandbox = async (
  objects: OddAccount = oddAccount(),
  switches: Partial<Switches> = {},
) => {
  const emulator: Emulator = await startEmulator();
  onTestFinished(() => emulator.close());
  const control = new EmulatorControl(emulator);
  await control.control("PUT", "/snapshot", { version: 1, objects, switches });
  const folder = temporaryFolder();
  mkdirSync(join(folder, "elsewhere"));
  const env = {
    ...emulatorEnvironment(emulator),
    ...withoutPace,
    PATH: "/nowhere",
    XDG_CACHE_HOME: folder,
  };
  return {
    ...{ emulator, control, folder, env },
    export: (options: Partial<ExportOptions> = {}) =>
      runExport({ folder, env, out: "shop", ...options }),
    files: (name = "shop"): Record<string, string> =>
      Object.fromEntries(
        readdirSync(join(folder, name)).map((file) => [
          file,
          readFileSync(join(folder, name, file), "utf8"),
        ]),
      ),
  };
};
