/** What a shell says of Pulumi, and of accounts of the service. */
const ofTheUser = /^(PULUMI|CONVERSATION)_/i;

/**
 * The environment without all that may lead to a stack, a backend or an account of the user: for what
 * is made and taken down again beside them. What it needs of these variables is set anew.
 */
export const environmentOfNobody = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !ofTheUser.test(name)));
