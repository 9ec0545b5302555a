import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** A package that is compiled without the files that reach a cloud. */
interface Stub {
  readonly module: string;
  /** The package's folder in the module; empty for the module's own. */
  readonly folder: string;
  /** Names of the files that go. Default: all. */
  readonly replaced?: RegExp;
  /** What the rest of Pulumi needs to compile: it refuses with a reason, or is never reached. */
  readonly source: string;
}

/** Go's error for what is missing. */
const lacks = (what: string): string =>
  `errors.New("this copy of Pulumi has no ${what}: install Pulumi")`;

const lacksClouds = lacks("cloud storage and no cloud keys");

/** A package or file with a command that only says that it is missing. */
const lacksCommand = (packageName: string, signature: string, name: string): string =>
  `package ${packageName}
import ("errors"; "github.com/spf13/cobra")
func ${signature} *cobra.Command {
	refuse := func(*cobra.Command, []string) error { return ${lacks(`${name} command`)} }
	return &cobra.Command{Use: "${name}", Hidden: true, DisableFlagParsing: true, RunE: refuse}
}`;

/**
 * The drivers for cloud storage and cloud keys, and the commands `api`, `neo`, and `env setup`: over a
 * third of the source that Pulumi compiles, and nothing that a local copy for this package's programs
 * needs. A backend such as `s3://` ends with `no driver registered`, the others say what is missing.
 */
export const withoutClouds: readonly Stub[] = [
  { module: "gocloud.dev", folder: "blob/s3blob", source: "package s3blob" },
  { module: "gocloud.dev", folder: "blob/gcsblob", source: 'package gcsblob\nconst Scheme = "gs"' },
  {
    module: "gocloud.dev",
    folder: "blob/azureblob",
    source: `package azureblob
import ("context"; "errors"; "net/url"; "gocloud.dev/blob")
const Scheme = "azblob"
type ServiceURLOptions struct{}
type URLOpener struct { MakeClient func(); ServiceURLOptions ServiceURLOptions }
func NewDefaultClient() {}
func NewDefaultServiceURLOptions() *ServiceURLOptions { return &ServiceURLOptions{} }
func (*URLOpener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) {
	return nil, ${lacksClouds}
}`,
  },
  { module: "gocloud.dev", folder: "secrets/awskms", source: "package awskms" },
  { module: "gocloud.dev", folder: "secrets/azurekeyvault", source: "package azurekeyvault" },
  { module: "gocloud.dev/secrets/hashivault", folder: "", source: "package hashivault" },
  {
    module: "gocloud.dev",
    folder: "secrets/gcpkms",
    source: `package gcpkms
import ("context"; "errors"; "net/url"; "gocloud.dev/secrets")
const Scheme = "gcpkms"
type URLOpener struct { Client any }
func Dial(context.Context, any) (any, func(), error) { return nil, nil, ${lacksClouds} }
func (*URLOpener) OpenKeeperURL(context.Context, *url.URL) (*secrets.Keeper, error) {
	return nil, ${lacksClouds}
}`,
  },
  {
    module: "google.golang.org/api",
    folder: "cloudkms/v1",
    source: 'package cloudkms\nconst CloudkmsScope = ""',
  },
  {
    module: "github.com/aws/aws-sdk-go-v2/service/s3",
    folder: "",
    source: "package s3\ntype CopyObjectInput struct { CopySource *string }",
  },
  {
    module: "github.com/pulumi/pulumi/pkg/v3",
    folder: "authhelpers",
    source: `package authhelpers
import ("context"; "errors"; "gocloud.dev/blob"; "golang.org/x/oauth2/google")
func ResolveGoogleCredentials(context.Context, string) (*google.Credentials, error) {
	return nil, ${lacksClouds}
}
func GoogleCredentialsMux(context.Context) (*blob.URLMux, error) { return nil, ${lacksClouds} }`,
  },
  {
    module: "github.com/pulumi/pulumi/pkg/v3",
    folder: "cmd/pulumi/cloud",
    // `org` and `insights` use the others.
    replaced: /^(?!envelope|resolve)/,
    source: `${lacksCommand("cloud", "NewAPICmd()", "api")}\ntype ParamSpec struct{}`,
  },
  {
    module: "github.com/pulumi/pulumi/pkg/v3",
    folder: "cmd/pulumi/neo",
    source: lacksCommand("neo", "NewNeoCmd()", "neo"),
  },
  {
    module: "github.com/pulumi/pulumi/pkg/v3",
    folder: "cmd/esc/cli",
    replaced: /^setup/,
    source: lacksCommand("cli", "newEnvSetupCmd(*envCommand)", "setup"),
  },
];

const downloadedSchema = z.object({ Path: z.string(), Dir: z.string() });

/** Reads what `go mod download -json` prints: one object after the other. */
export const readDownloads = (printed: string): ReadonlyMap<string, string> =>
  new Map(
    printed
      .split(/(?<=^\})\n/m)
      .filter((text) => text.trim() !== "")
      .map((text) => {
        const { Path, Dir } = downloadedSchema.parse(JSON.parse(text));
        return [Path, Dir];
      }),
  );

/**
 * Puts the stubs into downloaded modules. Go has compared these with its checksum database, and
 * must not have read them yet: it keeps an index of their files.
 */
export const placeStubs = (stubs: readonly Stub[], folders: ReadonlyMap<string, string>): void => {
  for (const { module, folder, replaced = /^/, source } of stubs) {
    const target = join(folders.get(module) ?? "", folder);
    mkdirSync(target, { recursive: true });
    for (const name of readdirSync(target))
      if (name.endsWith(".go") && replaced.test(name)) rmSync(join(target, name));
    writeFileSync(join(target, "stub.go"), `${source}\n`);
  }
};
