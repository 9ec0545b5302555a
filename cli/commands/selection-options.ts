import type { Command } from "commander";

/** What the options of a selection of objects mean, for the help. */
export const selectionHelp = `
What an object is named by, in --include and --exclude:
  a kind                Channel, client-application, …
  a name                orders-bot, or with * for any text: test-*
  a kind and a name     Channel:custom.*
  an id                 as the service tells it`;

/** Adds the options that choose objects of an account. */
export const withSelection = (command: Command): Command =>
  command
    .option("--include <what...>", "Only these objects; see below.")
    .option("--exclude <what...>", "Not these objects; see below.")
    .option("--with-dependencies", "Also what these objects refer to.");
