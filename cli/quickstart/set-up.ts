import { configureCallbacks, converse } from "./conversation.js";
import { type Scene, showObjects } from "./scene.js";

const nextSteps = [
  ["Change what is declared", "examples/default-account/index.ts, then npm run quickstart"],
  ["See how the bot works", "examples/orders-bot/README.md"],
  ["Take it all down", "npm run quickstart -- --destroy"],
  ["Run the emulator", "npm run emulator"],
  ["Use a real service", "README.md, Configuration; npx pulumi-conversation doctor checks it"],
] as const;

/** Declares an account, and shows that the program and the service agree. */
const declareAccount = async ({ pulumi, title }: Scene): Promise<void> => {
  const project = pulumi("default-account");
  title("pulumi up: examples/default-account");
  await project.ready();
  await project.show("up", "--yes");
  title("pulumi preview: the program and the service agree");
  await project.show("preview", "--expect-no-changes");
};

/** Declares the account of a bot that runs here, and has a conversation on it. */
const tryBot = async (scene: Scene): Promise<void> => {
  const project = scene.pulumi("orders-bot");
  scene.title("pulumi up: examples/orders-bot, the account of a bot");
  await project.ready();
  await configureCallbacks(project);
  await project.show("up", "--yes", "--skip-preview");
  await showObjects(scene);
  scene.title("A conversation on the account just declared: examples/orders-bot/converse.mts");
  await converse(scene, project);
};

/** The whole way up: two accounts, what then exists, and a conversation. */
export const setUp = async (scene: Scene): Promise<void> => {
  await declareAccount(scene);
  await tryBot(scene);
  scene.title("What to try next");
  for (const [what, how] of nextSteps) scene.print(`  ${`${what}:`.padEnd(26)}${how}`);
};
