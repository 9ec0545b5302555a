import type { Clock } from "../../kernel/clock.js";
import type { Pace } from "../../service/http/pace.js";
import type { Settings } from "../../service/settings/setting-table.js";
import { type PacingOptions, pacedCalls } from "../pacer.js";
import type { BucketStore } from "../stores/bucket-store.js";
import { type SharedBucketsOptions, sharedBuckets } from "../stores/shared-buckets.js";

/** A service of the tenant. */
export interface PacedService {
  readonly baseUrl: string;
  /** Rates of its endpoints. Default: those of Conversation v3. */
  readonly rates?: PacingOptions["rates"];
}

/** The paces of the services of one tenant, and the place where they keep their buckets. */
export interface ServicePaces {
  pace(service: PacedService): Pace;
  /** Gives the place back; a connection to Redis would keep the process alive. */
  close(): Promise<void>;
}

export interface ServicePacesOptions
  extends Pick<PacingOptions, "onWait" | "onPlanGuess">,
    Pick<SharedBucketsOptions, "onNotice" | "environment"> {
  readonly clock: Clock;
  /** Default: shared with other processes and within this one, see {@link sharedBuckets}. */
  readonly buckets?: BucketStore;
}

/** How calls keep to the rates that the settings tell. Opens nothing before the first call. */
export const servicePaces = (settings: Settings, options: ServicePacesOptions): ServicePaces => {
  const { plan, burst, share, redisUrl } = settings;
  const { clock, onWait, onPlanGuess, onNotice, environment } = options;
  const store =
    options.buckets ??
    sharedBuckets({
      clock,
      ...(redisUrl === undefined ? {} : { redisUrl }),
      ...(onNotice ? { onNotice } : {}),
      ...(environment ? { environment } : {}),
    });
  const limits = { share, ...(plan ? { plan } : {}), ...(burst === undefined ? {} : { burst }) };
  const hooks = {
    ...(onWait ? { onWait } : {}),
    ...(onPlanGuess ? { onPlanGuess } : {}),
    ...(onNotice ? { onNotice } : {}),
  };
  return {
    pace: ({ baseUrl, rates }) =>
      pacedCalls({
        clock,
        tenant: baseUrl,
        store,
        ...limits,
        ...hooks,
        ...(rates ? { rates } : {}),
      }),
    close: () => store.close(),
  };
};
