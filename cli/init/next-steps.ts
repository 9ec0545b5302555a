import { configOption } from "../../provider/service/settings.js";
import type { InitAnswers } from "./init-answers.js";
import { missingFirst, type StackStanding } from "./make-stack.js";

/** What of a new project is there already, and what is left. */
export interface ProjectStanding {
  readonly stack: StackStanding;
  /** Commands that fetch the packages; empty where that is done. */
  readonly packages: readonly string[];
  /** Whether the program is to run on an emulator. */
  readonly emulator: boolean;
}

const passphrase = 'export PULUMI_CONFIG_PASSPHRASE="one of your own"';

/** What makes Pulumi take a stack that it refused, as far as its refusal tells. */
const beforeTheStack = ({ stack, emulator }: ProjectStanding): readonly string[] => {
  const missing = missingFirst(stack.refusal);
  const path = stack.bin ? [`export PATH="${stack.bin}:$PATH"`] : [];
  if (missing === "login")
    return [
      ...path,
      ...(emulator ? ["pulumi login --local --non-interactive", passphrase] : ["pulumi login"]),
    ];
  return missing === "passphrase" ? [...path, passphrase] : path;
};

const theStack = (
  { name, stack }: InitAnswers,
  { made, configured, refusal = "" }: StackStanding,
): readonly string[] => {
  if (configured) return [];
  // Of an earlier project of this name: using it is safe, its objects stay its own.
  const verb = /already exists/.test(refusal) ? "select" : "init";
  return [
    ...(made ? [] : [`pulumi stack ${verb} ${stack}`]),
    `pulumi config set ${name}:callbackSecret --secret --stack ${stack}`,
  ];
};

/** Settings of the service that the stack does not hold yet. Pulumi asks for values that are left out. */
const theSettings = (
  { stack, settings, clientSecret }: InitAnswers,
  { stack: { configured } }: ProjectStanding,
): readonly string[] => {
  const set = (...words: readonly string[]) =>
    ["pulumi config set", ...words, "--stack", stack].join(" ");
  const plain = (["baseUrl", "tokenUrl", "clientId"] as const)
    .filter((key) => settings[key] === undefined || !configured)
    .map((key) => {
      const words = [configOption(key), `conversation:${key}`, settings[key]];
      return set(...words.flatMap((word) => (word ? [word] : [])));
    });
  return [
    ...plain,
    ...(clientSecret && configured ? [] : [set("conversation:clientSecret", "--secret")]),
  ];
};

/** The commands that are left to do, in order. */
export const nextSteps = (answers: InitAnswers, standing: ProjectStanding): readonly string[] => [
  ...standing.packages,
  ...beforeTheStack(standing),
  ...theStack(answers, standing.stack),
  ...(standing.emulator ? [] : theSettings(answers, standing)),
  "npm test",
  standing.emulator ? "npm run emulator -- pulumi up" : "pulumi up",
];
