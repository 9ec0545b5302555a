import { pluginToken, typeToken } from "../../provider/kernel/pulumi.js";
import type { Door } from "../support/door.js";

/** Logical names of the small world, with what each refers to. */
const stayingResources = {
  auth1: { kind: "Authentication", refers: [] },
  auth2: { kind: "Authentication", refers: [] },
  app1: { kind: "ClientApplication", refers: ["auth1"] },
  app2: { kind: "ClientApplication", refers: ["auth2"] },
  bot1: { kind: "Participant", refers: ["app1"] },
  bot2: { kind: "Participant", refers: ["app1"] },
  channel1: { kind: "Channel", refers: [] },
  flow1: { kind: "Orchestration", refers: ["app1", "bot1"] },
  flow2: { kind: "Orchestration", refers: ["app2"] },
  account1: { kind: "Account", refers: ["channel1", "flow1"] },
} as const satisfies Readonly<Record<string, { kind: string; refers: readonly string[] }>>;

type StayingName = keyof typeof stayingResources;

export const names = Object.keys(stayingResources) as StayingName[];

const movingKinds = { kiosk: "Channel", login: "Authentication", route: "Orchestration" } as const;

/** Where a resource of a moving history stands: door, parent and logical name, as in a URN. */
export type Place = `${Door} ${"" | "box "}${keyof typeof movingKinds}${1 | 2}`;

export const places: readonly Place[] = (["kiosk", "login", "route"] as const).flatMap((thing) =>
  (["dynamic", "plugin"] as const).flatMap((door) =>
    (["", "box "] as const).flatMap((parent) =>
      ([1, 2] as const).map((number): Place => `${door} ${parent}${thing}${number}`),
    ),
  ),
);

export type Name = StayingName | Place;

export const isPlace = (name: Name): name is Place => name.includes(" ");

/** The parts of a name, of which those that stay have a logical one only. */
export const partsOf = (name: Name) => {
  const words = name.split(" ");
  const [door] = words.length > 1 ? [words[0] as Door] : [];
  const parents = words.includes("box") ? "shop:index:Box$" : "";
  return { door, parents, logical: words.at(-1) ?? "" };
};

interface ModelKind {
  readonly kind: string;
  readonly refers: readonly Name[];
}

const movingResources = places.map((place): [Place, ModelKind] => {
  const thing = partsOf(place).logical.slice(0, -1) as keyof typeof movingKinds;
  return [place, { kind: movingKinds[thing], refers: thing === "route" ? ["app1"] : [] }];
});

export const modelResources: Readonly<Record<Name, ModelKind>> = {
  ...stayingResources,
  ...(Object.fromEntries(movingResources) as Record<Place, ModelKind>),
};

/** @param door of resources that stay */
export const urnOfName = (stack: string, name: Name, door: Door): string => {
  const { door: own = door, parents, logical } = partsOf(name);
  const { kind } = modelResources[name];
  const type = own === "plugin" ? pluginToken(kind) : typeToken(kind);
  return `urn:pulumi:${stack}::shop::${parents}${type}::${logical}`;
};

/** The stacks of moving histories, which see each other. */
export const movingStacks = ["prod", "dev"] as const;

/** How long a description is, and how it ends; `fits` and `over` are about the mark behind it. */
export const texts = [
  "short",
  "none",
  "fits",
  "over",
  "1000",
  "1023",
  "like a mark",
  "long like a mark",
] as const;

/** A resource that a program declares: another variant is another name, another version other content. */
export interface ModelResource {
  readonly name: Name;
  readonly variant: number;
  readonly version: number;
  /** That of the other account of moving histories. Default: none. */
  readonly profile?: "far" | undefined;
  /** Default: `short`. */
  readonly text?: (typeof texts)[number];
  /** Members that a program may leave out: none by default, one, or several. */
  readonly more?: 0 | 1 | 2;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  /** `ignoreChanges: ["*"]` */
  readonly ignoresAll?: boolean;
}

/** What goes wrong with one call, counted from the start of the step. */
export interface CallFault {
  readonly call: number;
  readonly kind:
    | "cut-before"
    | "cut-after"
    | "503-before"
    | "500-after"
    | "broken-answer"
    | "429"
    | "stale-list"
    /** 403: the client may not do this. */
    | "forbidden"
    /** The service refuses a write for what it says. */
    | "refused";
  /** The calls that are counted: all by default, lists only, or single objects being read. */
  readonly on?: "list" | "item";
  /** Strikes all those that follow, too, so that repeating does not help. */
  readonly lasting?: boolean;
}

/** A resource of the program that is to take over an object, if it is not in the state. */
export interface Adoption {
  readonly name: Name;
  /** By its name, by the id of what has the name, or by the id of any object of the kind. */
  readonly how: "name" | "id" | "any";
  readonly place: number;
}

/** Hooks that every resource of a program has. */
export interface Hooks {
  /** How often an `onError` hook says that a failed operation is to be repeated. */
  readonly repeats: number;
  /**
   * What the engine repeats where a creation failed with the id of its object: the creation, as today, or
   * an update of the object, as after pulumi#24684.
   */
  readonly incomplete: "create" | "update";
  /** The hook before or after so many operations fails. */
  readonly broken?: { readonly when: "before" | "after"; readonly operation: number } | undefined;
}

/** A run of the engine over a program. */
export interface Up {
  readonly type: "up";
  readonly stack: 0 | 1;
  readonly program: readonly ModelResource[];
  readonly force: readonly Name[];
  readonly deleteFirst: boolean;
  readonly faults: readonly CallFault[];
  readonly kill?: { readonly call: number; readonly acted: boolean } | undefined;
  readonly adopt?: readonly Adoption[];
  readonly eraseHidden?: boolean;
  readonly hooks?: Hooks | undefined;
  /** Not with `--skip-preview`. */
  readonly preview?: boolean;
  /** `--target` and `--exclude`. */
  readonly only?: { readonly option: "target" | "exclude"; readonly names: readonly Name[] };
}

export interface Refresh {
  readonly type: "refresh";
  readonly stack: 0 | 1;
  readonly faults: readonly CallFault[];
}

/** What a person does to the state of a stack with the Pulumi command line. */
export interface StateEdit {
  /** `pulumi state rename`, `pulumi state move` to the other stack, `pulumi state delete`. */
  readonly type: "rename" | "move" | "forget";
  readonly stack: 0 | 1;
  readonly name: Name;
}

/** What a person does with the service's own console; a place is that of one of our objects. */
export type ByHand =
  | { readonly type: "remove" | "change"; readonly place: number }
  /** Makes an object under the name of a resource. */
  | { readonly type: "foreign"; readonly name: Name; readonly variant: number }
  /** Copies an object, description included. */
  | {
      readonly type: "copy";
      readonly place: number;
      readonly age: "at once" | "soon" | "much later";
      readonly isRenamed: boolean;
    }
  /** Sets a member that no program declares. */
  | { readonly type: "set"; readonly place: number; readonly member: number };

export type ModelStep = Up | Refresh | StateEdit | ByHand;

/** The world around a history. */
export interface ModelSetting {
  readonly secrets: "mask" | "echo" | "omit";
  /** What a PUT does to what it leaves out; `keep` is known to the program or not. */
  readonly put: "replace" | "keep" | "keep, unknown";
  readonly marks: "description" | "none";
  /** Lists hold objects of others with ids that no call can use. */
  readonly odd: boolean;
  /** Whether runs can see the states of the stacks. */
  readonly sight: boolean;
}

export const plainSetting: ModelSetting = {
  secrets: "mask",
  put: "replace",
  marks: "description",
  odd: false,
  sight: true,
};

/** A history, and the programs that both stacks have in the end. */
export interface Scenario {
  /** Default: {@link plainSetting}. */
  readonly setting?: ModelSetting;
  readonly steps: readonly ModelStep[];
  readonly last: readonly [readonly ModelResource[], readonly ModelResource[]];
}
