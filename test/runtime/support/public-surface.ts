import * as runtime from "../../../sdk/runtime/index.js";
import { json } from "../../service/support/fake-hub.js";
import { AssetHub, status } from "./asset-hub.js";
import { connectedClient } from "./connected-client.js";
import { rightCalls } from "./right-calls.js";

/** The public functions of the package by their names, in front of services that accept everything. */
export interface PublicSurface extends AsyncDisposable {
  /** What a function is rightly called with. */
  rightCall(name: string): readonly unknown[];
  /** Calls a function with whatever is given; gives back what it fails with. */
  failureOf(name: string, given: readonly unknown[]): Promise<unknown>;
  /** So many calls have been made, those for tokens included. */
  sentCalls(): number;
}

export const memberOf = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

const acceptingHub = async (): Promise<AssetHub> => {
  const hub = await AssetHub.start();
  hub.about = { size: 3 };
  hub.content = [
    (request, response) =>
      request.method === "GET"
        ? response.writeHead(200).end("abc")
        : status(200)(request, response),
  ];
  return hub;
};

export const publicSurface = async (): Promise<PublicSurface> => {
  const accepted = { messages: { message: [{ conversation: { id: "c-1" } }] } };
  const live = await connectedClient(json(202, accepted));
  const hub = await acceptingHub();
  const clientFor = (name: string) => (name.startsWith("assets.") ? hub.client : live.client);
  return {
    rightCall: (name) => {
      const given = rightCalls[name] ?? [];
      if (name !== "request") return given;
      // Another service is on the same server as the hub.
      const baseUrl = `http://127.0.0.1:${live.hub.port}/portal/v4`;
      return [{ ...Object(given[0]), baseUrl }];
    },
    failureOf: async (name, given) => {
      const [group = "", member] = name.split(".");
      const from = name === "request" || member ? clientFor(name) : runtime;
      const owner = member ? memberOf(from, group) : from;
      const called = memberOf(owner, member ?? group);
      if (typeof called !== "function") throw new Error(`there is no ${name}`);
      try {
        await Reflect.apply(called, owner, [...given]);
        return undefined;
      } catch (error) {
        return error;
      }
    },
    sentCalls: () => live.hub.calls.length + live.hub.tokenCalls.length + hub.calls.length,
    [Symbol.asyncDispose]: async () => {
      await live[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
};
