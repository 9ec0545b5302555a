interface Advice {
  readonly when: RegExp;
  readonly text: string;
}

/** What Pulumi says of a stack that it cannot read, and what to do about it. The first that fits counts. */
const advices: readonly Advice[] = [
  {
    when: /PULUMI_ACCESS_TOKEN|pulumi login|not logged in|[Uu]nauthorized|\b401\b/,
    text: "Log in first (pulumi login), set PULUMI_ACCESS_TOKEN, or name a backend in PULUMI_BACKEND_URL.",
  },
  {
    when: /yaml|unmarshal|invalid character/i,
    text: "Correct Pulumi.yaml, or the stack's own file beside it.",
  },
  {
    when: /passphrase/,
    text: "Set PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE to the passphrase of the stack.",
  },
  {
    when: /no stack named/,
    text: "Name a stack that is there with --stack; pulumi stack ls shows them, pulumi stack init makes one.",
  },
  {
    when: /no stack selected|--stack flag/,
    text: "Select a stack (pulumi stack select), or name one with --stack.",
  },
  {
    when: /no Pulumi\.yaml|no project file/,
    text: "Run this in the folder of a Pulumi project.",
  },
  {
    when: /state directory|backend|bucket|dial tcp|connect/,
    text: "Check where the states are kept: PULUMI_BACKEND_URL, or what pulumi whoami --verbose shows.",
  },
  { when: /no answer within/, text: "Try again; if it stays so, look at pulumi stack export." },
];

/** What to do when Pulumi cannot read a stack, from what it said. */
export const stackAdvice = (said: string): string =>
  advices.find(({ when }) => when.test(said))?.text ?? "Correct that first.";
