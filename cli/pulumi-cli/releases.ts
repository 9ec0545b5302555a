/** Oldest Pulumi CLI that is used as it is found. */
export const LEAST_PULUMI = "3.254.0";

/** The release that is fetched where none is found, and what it takes to build it from its Go modules. */
export const release = {
  version: "3.259.0",
  installer: "https://get.pulumi.com/install.sh",
  leastGo: "1.26",
  programs: [
    {
      name: "pulumi",
      module: "github.com/pulumi/pulumi/pkg/v3",
      version: "v3.259.0",
      package: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
      flags: [
        "-tags",
        "osusergo,grpcnotrace",
        "-ldflags",
        "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.259.0",
      ],
    },
    {
      // Later releases of the language host have no tagged module; this one works with the engine above.
      name: "pulumi-language-nodejs",
      module: "github.com/pulumi/pulumi/sdk/v3",
      version: "v3.68.0",
      package: "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
      flags: ["-ldflags", "-s -w"],
    },
  ],
} as const;

export type GoProgram = (typeof release.programs)[number];

/** What must stand beside `pulumi`, or on PATH, to run TypeScript programs with dynamic providers. */
export const companions = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"] as const;
