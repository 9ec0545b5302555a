import { durationText } from "../../provider/kernel/text.js";
import { textTable, withCount, wrappedText } from "../terminal/columns.js";
import { textReport } from "../terminal/report.js";
import type { Forecast } from "./forecast-schema.js";

/** Which part of the quota a run takes. */
const quotaText = ({ endpoints, plan, monthlyQuota }: Forecast): string => {
  const methods: Record<string, number> = {};
  for (const { endpoint, calls } of endpoints) {
    const [method = ""] = endpoint.split(" ");
    methods[method] = (methods[method] ?? 0) + calls;
  }
  const calls = Object.entries(methods).map(([method, count]) => `${count} ${method}`);
  const quota = monthlyQuota.toLocaleString("en-US");
  return `Monthly quota: the ${plan} plan allows ${quota} calls with each HTTP method. This run's calls: ${calls.join(", ")}.`;
};

export const forecastReport = (made: Forecast): string => {
  const { operation, plan, parallel, totalCalls, totalSeconds, endpoints } = made;
  const headline = [
    `pulumi ${operation}: ${withCount(totalCalls, "call")}, about ${durationText(totalSeconds * 1000)}.`,
    `Plan ${plan}, --parallel ${parallel}.`,
  ];
  if (totalCalls === 0) return textReport(headline);
  const rows = endpoints
    .toSorted((a, b) => b.seconds - a.seconds)
    .map((each) => [each.endpoint, `${each.calls}`, durationText(each.seconds * 1000)]);
  return textReport(
    [
      ...headline,
      "All buckets are assumed to be full.",
      "If you just made calls, the run takes longer.",
      ...wrappedText(quotaText(made)),
    ],
    textTable(["Endpoint", "Calls", "Time"], rows),
  );
};
