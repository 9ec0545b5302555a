import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { assertCalls, deliveryLike, noDelivery } from "../checks/call-check.js";
import { type HubRecords, kindCalled } from "../checks/hub-records.js";
import { assertNoObjectLike, objectLike } from "../checks/object-check.js";
import type { EmulatedTime } from "../conversations/waiting.js";
import type { EmulatedStack } from "./emulated-stack.js";

type StackChecks = Pick<
  EmulatedStack,
  | "objects"
  | "calls"
  | "deliveries"
  | "expectObject"
  | "expectNoObject"
  | "expectCalls"
  | "expectDelivery"
  | "forecast"
  | "expectForecast"
>;

const defaultWithinMs = 5_000;

/** What can be expected of a stack and of the emulator behind it. */
export const stackChecks = (stack: Stack, records: HubRecords, time: EmulatedTime): StackChecks => {
  const objects = (kind: string) => records.objects(kindCalled(kind).collection);
  return {
    objects,
    calls: () => records.calls(),
    deliveries: () => records.deliveries(),
    expectObject: async (kind, expected) =>
      objectLike(kindCalled(kind), await objects(kind), expected),
    expectNoObject: async (kind, expected) =>
      assertNoObjectLike(kindCalled(kind), await objects(kind), expected),
    expectCalls: async (expected, of) => assertCalls(of ?? (await records.calls()), expected),
    expectDelivery: async ({ withinMs = defaultWithinMs, ...expected }) => {
      const found = await time.until(
        async () => deliveryLike(await records.deliveries(), expected),
        withinMs,
      );
      if (found) return found;
      throw noDelivery(expected, withinMs, await records.deliveries());
    },
    forecast: async (conditions) => {
      const { forecastOf } = await import("../checks/stack-forecast.js");
      return forecastOf(await stack.exportStack(), conditions);
    },
    expectForecast: async (limits) => {
      const { assertForecast } = await import("../checks/stack-forecast.js");
      return assertForecast(await stack.exportStack(), limits);
    },
  };
};
