import { parseSwitch, type Switches } from "../../emulator/service/switches.js";
import { type Plan, plans } from "../../provider/service/plans.js";
import {
  choiceOption,
  type OptionSpec,
  parsedOption,
  textOption,
  textsOption,
} from "../command.js";

export const stackOption = (
  doc = "Use this stack (default: the selected one).",
): OptionSpec<string> => textOption("<name>", doc);

export const profileOption = (doc = "Use this profile's settings."): OptionSpec<string> =>
  textOption("<name>", doc);

export const planOption: OptionSpec<Plan> = choiceOption(
  "<plan>",
  plans,
  "The tenant's plan (default: CONVERSATION_PLAN, then conversation:plan).",
);

/** `--switch name=value`, of the emulator. */
export const switchesOption = (doc: string): OptionSpec<Partial<Switches>> =>
  parsedOption("<name=value>", doc, (given, before = {}) => {
    const [name = "", ...value] = given.split("=");
    return { ...before, ...parseSwitch(name, value.join("=")) };
  });

export const selectionOptions = {
  include: textsOption("<what...>", "Include only these objects; see below."),
  exclude: textsOption("<what...>", "Exclude these objects; see below."),
};

export const selectionHelp = `
How to specify objects in --include and --exclude:
  a kind                Channel, client-application, …
  a name                orders-bot, or with * for any characters: test-*
  an ID                 as the service shows it`;
