/** An argument that every resource takes besides the fields of its kind. */
export interface ResourceArgument {
  readonly name: string;
  /** Its TypeScript type. */
  readonly type: string;
  /** The same for the reference page. */
  readonly shown: string;
  /** One sentence or more for each line. */
  readonly doc: readonly string[];
}

/** What every resource takes besides the fields of its kind. */
export const resourceArguments: readonly ResourceArgument[] = [
  {
    name: "adopt",
    type: "boolean | string",
    shown: "true or id",
    doc: [
      "Take over an existing object instead of making one: `true` for the one with the same unique name, or its id.",
      "No such object, or several, is refused, and so is one that carries the owner mark of another stack.",
      "The preview reads the object and shows what will change in it; what the program does not declare stays as it is.",
      "May stay in the program: without effect once the resource is in the state. Default: `false`.",
    ],
  },
  {
    name: "extra",
    type: "pulumi.Input<pulumi.Inputs>",
    shown: "object",
    doc: [
      "Further members of the service's JSON that this package does not know, merged deeply: also into the objects that it does know.",
      "Refused where a documented property stands, at any depth. They are written, compared and repaired like every other property.",
      "What is secret in it stays secret. Default: none.",
    ],
  },
  {
    name: "eraseHidden",
    type: "boolean",
    shown: "true or false",
    doc: [
      "An update or adoption may erase members that the program does not declare and that the service hides (masked or left-out secrets), where it is not known that this tenant's PUT keeps them.",
      "Without it the run refuses and names them. Default: `false`.",
    ],
  },
  {
    name: "profile",
    type: "string",
    shown: "text",
    doc: [
      "Name of the settings to use, for programs that speak to several accounts: `staging` reads `CONVERSATION_STAGING_BASE_URL`, `conversation:staging.baseUrl` and so on.",
      "Letters, digits, `_` and `-`. Cannot change. Default: the settings without a name.",
    ],
  },
];
