// A separate module: the help of the command names them, and loads nothing else for it.

/** The Pulumi runs that can be forecast. */
export const forecastOperations = ["up", "refresh", "destroy"] as const;

export type ForecastOperation = (typeof forecastOperations)[number];
