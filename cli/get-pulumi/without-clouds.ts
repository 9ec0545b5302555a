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

const reason = '"this copy of Pulumi has no cloud storage and no cloud keys: install Pulumi"';

/**
 * The drivers for cloud storage and cloud keys, and `env setup`: a third of what Pulumi compiles, and
 * nothing that a local copy for this package's programs needs. A backend such as `s3://` ends with
 * `no driver registered`, the others with the reason above.
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
	return nil, errors.New(${reason})
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
func Dial(context.Context, any) (any, func(), error) { return nil, nil, errors.New(${reason}) }
func (*URLOpener) OpenKeeperURL(context.Context, *url.URL) (*secrets.Keeper, error) {
	return nil, errors.New(${reason})
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
	return nil, errors.New(${reason})
}
func GoogleCredentialsMux(context.Context) (*blob.URLMux, error) { return nil, errors.New(${reason}) }`,
  },
  {
    module: "github.com/pulumi/pulumi/pkg/v3",
    folder: "cmd/esc/cli",
    replaced: /^setup/,
    source: `package cli
import ("errors"; "github.com/spf13/cobra")
func newEnvSetupCmd(*envCommand) *cobra.Command {
	return &cobra.Command{Use: "setup", Hidden: true, RunE: func(*cobra.Command, []string) error {
		return errors.New(${reason})
	}}
}`,
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
