/** Options that a preview does not accept. */
const onlyOfRuns = new Set([
  ...["--yes", "-y", "--skip-preview", "-f", "--continue-on-error"],
  ...["--suppress-progress", "--show-secrets", "--strict"],
]);

/** Options of `pulumi up` or `pulumi destroy`, reduced to those that a preview accepts. */
export const forPreview = (args: readonly string[]): readonly string[] =>
  args.filter((arg) => !onlyOfRuns.has(arg));

/** Whether the options restrict the run to named resources. */
export const namesTargets = (args: readonly string[]): boolean =>
  args.some((arg) => /^(--target(-replace)?(=|$)|-t)/.test(arg));

/** Whether the run first reads the services. */
export const asksToRefresh = (args: readonly string[]): boolean =>
  args.some((arg) => /^(--refresh(=true)?|-r)$/.test(arg));

/**
 * Options that keep Pulumi from these resources. It accepts none beside targets: what is no target
 * is left alone anyway. With `--refresh` it refuses the URN of a resource that no state has yet,
 * but not a pattern for it. The pattern also matches longer names of the same type: none of those
 * is run, either.
 */
export const excluding = (urns: readonly string[], args: readonly string[]): readonly string[] =>
  namesTargets(args)
    ? []
    : urns.flatMap((urn) => ["--exclude", asksToRefresh(args) ? `${urn}**` : urn]);

/** `--parallel 16`, `--parallel=16`, `-p 16`, or `-p16`. */
export const parallelIn = (args: readonly string[]): number | undefined => {
  const at = args.findIndex((arg) => arg === "--parallel" || arg === "-p");
  const joined = args.flatMap((arg) => /^(?:--parallel=|-p=?)(\d+)$/.exec(arg)?.[1] ?? [])[0];
  const given = Number(at >= 0 ? args[at + 1] : joined);
  return Number.isInteger(given) && given > 0 ? given : undefined;
};

/** Options that would lead a run away from the copy, or write to a person's files. */
const leadsAway =
  /^(--(stack|cwd|config-file|secrets-provider|json|event-log|save-plan|import-file|preview-only|client|remote[\w-]*)(=|$)|-[a-zA-Z]?[sCj](=|$|[^a-zA-Z-]))/;

/** Options that set settings of the service or of Pulumi: they would override those of the copy. */
const setsWay = /^(--override-env|--config|-c)(=|$)/;
const way = /^=?(conversation:|CONVERSATION_|PULUMI_)/;

/** The first of these options that a run on a copy does not accept. */
export const optionNotHandedOn = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => {
    if (leadsAway.test(arg)) return true;
    const [name = ""] = setsWay.exec(arg) ?? [];
    if (name === "") return false;
    return way.test(name.endsWith("=") ? arg.slice(name.length) : (args[at + 1] ?? ""));
  });
