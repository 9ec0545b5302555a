import {
  type LinkingFiles,
  linkingFiles,
  manifestIn,
  namedRepository,
  withRepository,
} from "./repository-links.js";

/** What the change log says below the heading of a version; undefined where it has none with a date. */
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
    ...(changes ? [] : [`CHANGELOG.md has no entry below "## [${version}] - <year-month-day>"`]),
    ...(left ? ['CHANGELOG.md still has entries below "## [Unreleased]"'] : []),
  ];
};

const repositoryProblems = (files: LinkingFiles, published: string | undefined) => {
  const named = namedRepository(files["package.json"]);
  if (!named) return ["package.json names no repository: npm run repository -- <address>"];
  const linked = withRepository(files, named);
  return [
    ...linkingFiles
      .filter((path) => linked[path] !== files[path])
      .map((path) => `the links of ${path} are not up to date: npm run repository -- ${named}`),
    // npm refuses a statement of provenance for another repository than the one that is named.
    ...(published && published !== named ? [`package.json names ${named}, not ${published}`] : []),
  ];
};

/**
 * What has to be put right before this tag can be published; empty where nothing has.
 *
 * @param tag name of the tag, such as `v0.2.0`
 * @param published address of the repository that publishes, where it is known
 */
export const releaseProblems = (
  files: LinkingFiles,
  tag: string,
  published?: string,
): readonly string[] => {
  const version = String(manifestIn(files["package.json"]).version);
  const wrongTag = tag !== `v${version}` ? [`the tag is ${tag}, the version is ${version}`] : [];
  return [
    ...wrongTag,
    ...changelogProblems(files["CHANGELOG.md"], version),
    ...repositoryProblems(files, published),
  ];
};
