import type { EmulatorOptions } from "../../emulator/index.js";
import { paths } from "../../emulator/listener.js";
import { mergeDeep } from "../../provider/definition/extra.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { type Ways, Wire } from "../matrix/support/wire.js";
import { type Emulated, emulated } from "./emulated.js";

/** A hub whose ways a test may change while it runs. */
export interface Bent extends Emulated {
  readonly bend: { ways: Ways | undefined };
}

/** The emulator behind a service with ways of its own. */
export const bent = async (
  ways: Ways = {},
  options: EmulatorOptions = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Bent> => {
  const bend = await Wire.open();
  bend.ways = ways;
  const hub = await emulated(options, {
    ...environment,
    CONVERSATION_BASE_URL: bend.origin + paths.base,
  });
  bend.leadTo(hub.emulator.baseUrl);
  const stop = async (): Promise<void> => {
    await hub.stop();
    await bend[Symbol.asyncDispose]();
  };
  return Object.assign(Object.create(hub) as Emulated, { bend, stop });
};

/** An object without its members of these names, in objects at any depth, or with nothing else. */
const parted = (object: JsonObject, names: readonly string[], isOwn: boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
      if (names.includes(name)) return isOwn ? [[name, value]] : [];
      if (!isObject(value)) return isOwn ? [] : [[name, value]];
      const inner = parted(value, names, isOwn);
      return isOwn && Object.keys(inner).length === 0 ? [] : [[name, inner]];
    }),
  );

/** The ways of a tenant that takes members of these names beside the schema: it keeps what it is given. */
export const withMembers = (...names: readonly string[]) => {
  const kept = new Map<unknown, JsonObject>();
  const key = ({ name, type }: JsonObject) => name ?? type;
  return {
    kept,
    stored: (body) => {
      kept.set(key(body), parted(body, names, true));
      return parted(body, names, false);
    },
    shown: (object) => mergeDeep(object, kept.get(key(object)) ?? {}),
  } satisfies Ways & { readonly kept: ReadonlyMap<unknown, JsonObject> };
};
