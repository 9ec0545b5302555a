/** The runs of Pulumi that can be forecast. */
export const operations = ["up", "refresh", "destroy"] as const;

export type Operation = (typeof operations)[number];
