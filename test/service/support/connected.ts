import { waitOutRefusals } from "../../../provider/pacing/pacer.js";
import {
  connectService,
  type Service,
  type ServiceOptions,
} from "../../../provider/service/connect.js";
import type { Settings } from "../../../provider/service/settings.js";
import { JumpingClock } from "./clocks.js";
import { FakeHub, type Handler } from "./fake-hub.js";

/** A fake service and the client that talks to it without ever waiting for real. */
export class Connected implements AsyncDisposable {
  constructor(
    readonly hub: FakeHub,
    readonly service: Service,
    readonly clock: JumpingClock,
  ) {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    await this.hub[Symbol.asyncDispose]();
  }
}

export const noPauses = { minTimeoutMs: 0, maxTimeoutMs: 0 } as const;

export const connected = async (
  handle: Handler,
  options: Partial<ServiceOptions> = {},
  settings: Partial<Settings> = {},
): Promise<Connected> => {
  const hub = await FakeHub.start(handle);
  const clock = new JumpingClock();
  const service = connectService(hub.settings(settings), {
    clock,
    pace: waitOutRefusals({ clock: options.clock ?? clock }),
    retry: noPauses,
    ...options,
  });
  return new Connected(hub, service, clock);
};

export const failureOf = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("nothing failed");
};
