import { isObject, type JsonObject } from "../provider/kernel/json.js";

/** Every file that names the address of the repository, from the root. */
export const linkingFiles = [
  "package.json",
  "README.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "docs/_index.md",
  "docs/installation-configuration.md",
] as const;

/** Their texts. */
export type LinkingFiles = Readonly<Record<(typeof linkingFiles)[number], string>>;

/**
 * The address of a repository in one form, such as `https://github.com/acme/pulumi-conversation`.
 *
 * @throws Error if the text is no such address
 */
export const repositoryAddress = (text: string): string => {
  const plain = text.replace(/^git\+/, "").replace(/(\.git)?\/?$/, "");
  if (/^https:\/\/[\w.-]+(\/[\w.-]+){2}$/.test(plain)) return plain;
  throw new Error(`The repository address must have the form https://host/owner/name, not ${text}`);
};

/** The members of a `package.json`. */
const manifestIn = (packageJson: string): JsonObject => {
  const manifest: unknown = JSON.parse(packageJson);
  return isObject(manifest) ? manifest : {};
};

/** The address that `package.json` names, or undefined before it has one. */
export const namedRepository = (packageJson: string): string | undefined => {
  const { repository } = manifestIn(packageJson);
  return isObject(repository) ? repositoryAddress(String(repository.url)) : undefined;
};

const packageWith = (text: string, address: string): string => {
  const { name, version, description, ...rest } = manifestIn(text);
  const links = {
    homepage: `${address}#readme`,
    repository: { type: "git", url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  };
  // Spread twice: the links come first in order and override the former ones.
  const manifest = { name, version, description, ...links, ...rest, ...links };
  return `${JSON.stringify(manifest, null, 2)}\n`;
};

const readmeWith = (text: string, address: string): string =>
  text.replace(/git clone (<this repository>|https:\S+)/, `git clone ${address}`);

const securityWith = (text: string, address: string): string =>
  text.replace(
    /\[security advisories\]\(\S+\)|security advisories/,
    `[security advisories](${address}/security/advisories/new)`,
  );

/** Links of the headings: each version compared with the one before it, the first as it is. */
const changelogWith = (text: string, address: string): string => {
  const headings = [...text.matchAll(/^## \[([^\]]+)\]/gm)].map(([, version = ""]) => version);
  const lines = headings.map((version, place) => {
    const [before, tag] = [headings[place + 1], version === "Unreleased" ? "HEAD" : `v${version}`];
    const page = before ? `compare/v${before}...${tag}` : `releases/tag/${tag}`;
    return `[${version}]: ${address}/${page}`;
  });
  return `${text.replace(/^\[[^\]]+\]: \S+\n/gm, "").trimEnd()}\n\n${lines.join("\n")}\n`;
};

/** Links of a page that Pulumi's registry shows without the pages around it. */
const registryPageWith = (text: string, address: string): string =>
  text.replace(
    /\]\((?:https:\/\/[^()\s]+\/blob\/HEAD\/docs\/)?((?:[\w-]+\/)*[\w-]+\.md(?:#[\w-]+)?)\)/g,
    `](${address}/blob/HEAD/docs/$1)`,
  );

/** The files with this address wherever one belongs, whether they had one before or not. */
export const withRepository = (files: LinkingFiles, address: string): LinkingFiles => ({
  "package.json": packageWith(files["package.json"], address),
  "README.md": readmeWith(files["README.md"], address),
  "SECURITY.md": securityWith(files["SECURITY.md"], address),
  "CHANGELOG.md": changelogWith(files["CHANGELOG.md"], address),
  "docs/_index.md": registryPageWith(files["docs/_index.md"], address),
  "docs/installation-configuration.md": registryPageWith(
    files["docs/installation-configuration.md"],
    address,
  ),
});

/**
 * The text of the change log below the heading of a version; undefined if it has no heading with a
 * date.
 */
const changesOf = (changelog: string, heading: RegExp): string | undefined => {
  const section = changelog.split(/^## /m).find((part) => heading.test(part));
  return section
    ?.replace(/^.*\n/, "")
    .replace(/^\[[^\]]+\]: \S+\n?/gm, "")
    .trim();
};

const changelogProblems = (changelog: string, version: string): readonly string[] => {
  const name = version.replaceAll(".", "\\.");
  const changes = changesOf(changelog, new RegExp(`^\\[${name}\\] - \\d{4}-\\d\\d-\\d\\d$`, "m"));
  const left = changesOf(changelog, /^\[Unreleased\]/);
  return [
    ...(changes ? [] : [`CHANGELOG.md has no entry under "## [${version}] - <year-month-day>"`]),
    ...(left ? ['CHANGELOG.md still has entries under "## [Unreleased]"'] : []),
  ];
};

const repositoryProblems = (files: LinkingFiles, published: string | undefined) => {
  const named = namedRepository(files["package.json"]);
  if (!named)
    return ["package.json does not name a repository; run: npm run repository -- <address>"];
  const linked = withRepository(files, named);
  return [
    ...linkingFiles
      .filter((path) => linked[path] !== files[path])
      .map((path) => `the links in ${path} are out of date; run: npm run repository -- ${named}`),
    // npm refuses a provenance statement for a repository other than the named one.
    ...(published && published !== named ? [`package.json names ${named}, not ${published}`] : []),
  ];
};

/**
 * What has to be corrected before this tag can be published; empty if nothing.
 *
 * @param tag name of the tag, such as `v0.2.0`
 * @param published address of the repository that publishes, if it is known
 */
export const releaseProblems = (
  files: LinkingFiles,
  tag: string,
  published?: string,
): readonly string[] => {
  const version = String(manifestIn(files["package.json"]).version);
  const wrongTag =
    tag !== `v${version}` ? [`the tag is ${tag}, but the version is ${version}`] : [];
  return [
    ...wrongTag,
    ...changelogProblems(files["CHANGELOG.md"], version),
    ...repositoryProblems(files, published),
  ];
};
