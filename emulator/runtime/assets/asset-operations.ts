import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { timestamp } from "../../clock.js";
import { Findings } from "../../control/findings.js";
import { type Answer, Refusal } from "../../http/refusal.js";
import { travelling } from "../../http/vendor-word.js";
import type { World } from "../../objects/world.js";
import { valueAt } from "../json-path.js";
import { isChannelType } from "../routing.js";
import { senderKindOf, senderKinds } from "../sender-rules.js";
import { type Asset, describeAsset } from "./asset.js";
import { contentTypeOf, extensionOf } from "./content-types.js";
import type { Transfer } from "./signed-addresses.js";

const longestName = 255;
/** 10 MiB (public reference). */
const mostBytes = 10_485_760;

type Check = (value: unknown, path: string, findings: Findings, world: World) => void;

/** The members of the body and what they must be (public reference). */
const members: Readonly<Record<string, Check>> = {
  "channel.type": (value, path, findings, { store, switches }) => {
    if (typeof value !== "string" || value === "") findings.invalid(path, "must be a text");
    else if (switches.unknownReference === "refuse" && !isChannelType(store, value))
      findings.invalid(path, "there is no channel of this type");
  },
  "sender.type": (value, path, findings, { switches: { platformName } }) => {
    if (senderKindOf(value, platformName)) return;
    findings.notAllowed(
      path,
      senderKinds.map((kind) => travelling(kind, platformName)),
    );
  },
  name: (value, path, findings) => {
    if (typeof value !== "string" || value.length > longestName || !extensionOf(value))
      findings.invalid(
        path,
        `must be a file name with extension, of up to ${longestName} characters`,
      );
  },
  size: (value, path, findings) => {
    const fits = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= mostBytes;
    if (!fits) findings.invalid(path, `must be a whole number of bytes from 1 to ${mostBytes}`);
  },
};

const assertValid = (world: World, body: JsonObject): void => {
  const findings = new Findings();
  for (const [path, check] of Object.entries(members)) {
    const value = valueAt(body, ...path.split("."));
    if (value === undefined || value === null) findings.missing(path);
    else check(value, path, findings, world);
  }
  findings.assertNone();
};

const address = (world: World, request: IncomingMessage, transfer: Transfer, id: string) => {
  const until = world.clock.now() + world.switches.assetUrlLifetime * 1000;
  return world.runtime.addresses.make(request, transfer, id, until);
};

const found = (world: World, id: string): Asset => {
  const asset = world.runtime.assets.get(id);
  if (asset) return asset;
  throw new Refusal(404, "404-101", "There is no asset with this id.");
};

/** Registers an asset and gives the signed address that its content goes to (specification §4.2). */
export const createAsset = (world: World, body: JsonObject, request: IncomingMessage): Answer => {
  assertValid(world, body);
  const name = String(body.name);
  const asset: Asset = {
    id: randomUUID(),
    channelType: String(valueAt(body, "channel", "type")),
    senderType: String(valueAt(body, "sender", "type")),
    name,
    size: Number(body.size),
    contentType: contentTypeOf(extensionOf(name) ?? ""),
    created: timestamp(world.clock.now()),
    uploaded: false,
    used: false,
  };
  world.runtime.assets.put(asset);
  return { status: 200, body: { id: asset.id, ...address(world, request, "POST", asset.id) } };
};

/**
 * Gives the signed address that the content comes from (specification §4.2). As long as there is no
 * content there is nothing to give (404, assumed).
 */
export const getAsset = (world: World, id: string, request: IncomingMessage): Answer => {
  const asset = found(world, id);
  if (!asset.uploaded)
    throw new Refusal(404, "404-101", "The content of this asset has not been uploaded.");
  return { status: 200, body: { ...describeAsset(asset), ...address(world, request, "GET", id) } };
};

/** Deletes an asset and its content, unless it was used in a message (specification §2). */
export const deleteAsset = (world: World, id: string): Answer => {
  if (found(world, id).used) {
    const status = world.switches.usedAssetStatus;
    throw new Refusal(
      status,
      `${status}-113`,
      "The asset has been used in a message and cannot be deleted.",
    );
  }
  world.runtime.assets.remove(id);
  return { status: 204 };
};
