import { type ModelResource, type ModelStep, plainSetting, type Scenario } from "./scenario.js";

const declared = (name: ModelResource["name"], variant = 0, version = 0): ModelResource => ({
  name,
  variant,
  version,
});

const up = (
  program: readonly ModelResource[],
  more: Partial<Extract<ModelStep, { type: "up" }>> = {},
): ModelStep => ({
  type: "up",
  stack: 0,
  program,
  force: [],
  deleteFirst: false,
  faults: [],
  ...more,
});

/** What an orchestration and an account refer to. */
const setUp = [declared("auth1"), declared("app1"), declared("bot1"), declared("channel1")];

/**
 * Histories that the random test found, each with a rule that was missing and that no test of
 * `test/lifecycle` shows.
 */
export const counterExamples: readonly { readonly title: string; readonly history: Scenario }[] = [
  {
    title:
      "a replacement that deletes first takes over the object it spared, though the list does not show it",
    history: {
      steps: [
        up([declared("auth2", 1)]),
        up([declared("auth2"), declared("app2")], {
          force: ["auth2"],
          deleteFirst: true,
          faults: [{ call: 0, kind: "stale-list" }],
        }),
      ],
      last: [[declared("auth2")], []],
    },
  },
  {
    title: "a leftover of a replacement that was cut off does not keep the name from its resource",
    history: {
      steps: [
        up([declared("auth1"), declared("app1", 1), declared("bot1", 1)]),
        up(
          [
            declared("auth1", 0, 1),
            declared("auth2"),
            declared("app1"),
            declared("app2"),
            declared("bot1"),
            declared("flow2"),
          ],
          {
            force: ["bot1"],
            faults: [{ call: 8, kind: "stale-list" }],
            kill: { call: 9, acted: true },
          },
        ),
      ],
      last: [[declared("auth1"), declared("app1"), declared("bot1")], []],
    },
  },
  {
    title: "a leftover that is still referred to steps aside for the object of its resource",
    history: {
      steps: [
        up([declared("auth1", 1), declared("app1")]),
        up([declared("auth1"), declared("app1")], {
          force: ["auth1"],
          faults: [{ call: 0, kind: "stale-list" }],
          kill: { call: 2, acted: false },
        }),
      ],
      last: [[declared("auth1", 1), declared("app1")], []],
    },
  },
  {
    title:
      "what a replacement deleted and did not make again keeps its place in the order of deletions",
    history: {
      steps: [
        up([declared("auth1"), declared("app1"), declared("bot2")]),
        up([declared("auth1"), declared("app1"), declared("channel1")], {
          force: ["app1"],
          deleteFirst: true,
          kill: { call: 0, acted: false },
        }),
      ],
      last: [[], []],
    },
  },
  {
    title: "an unclear answer that shows an old object beside the new one leaves one of them",
    history: {
      steps: [
        up([declared("auth1", 1)]),
        up([declared("auth1")]),
        up([declared("auth1", 1)], {
          force: ["auth1"],
          faults: [
            { call: 0, kind: "stale-list" },
            { call: 1, kind: "500-after" },
          ],
        }),
      ],
      last: [[declared("auth1")], []],
    },
  },
  {
    title:
      "an object without a mark keeps its id where a forced replacement gives it a name and a mark",
    history: {
      steps: [
        up([{ ...declared("auth1", 1), text: "1023" }]),
        up([declared("auth1")], { force: ["auth1"] }),
      ],
      last: [[declared("auth1")], []],
    },
  },
  {
    title: "an unclear POST of an object whose description ends like a mark is not repeated",
    history: {
      steps: [
        up(
          [declared("auth2"), declared("app2"), { ...declared("flow2"), text: "long like a mark" }],
          { faults: [{ call: 5, kind: "cut-after" }] },
        ),
      ],
      last: [[], []],
    },
  },
  {
    title: "a name is taken by the object without a mark of another stack, and the message says so",
    history: {
      steps: [
        up([{ ...declared("auth1"), text: "1023" }, declared("app1")]),
        { type: "move", stack: 0, name: "auth1" },
      ],
      last: [[declared("auth1"), declared("app1")], []],
    },
  },
  {
    title: "an object that only the former stack's interrupted run left lets go of a moved one",
    history: {
      steps: [
        up([declared("auth1"), declared("auth2"), declared("app1")], {
          stack: 1,
          kill: { call: 4, acted: true },
        }),
        { type: "move", stack: 1, name: "auth1" },
        up([declared("auth1")]),
      ],
      last: [[], []],
    },
  },
  {
    title: "a secret that a refused replacement did not write is written later",
    history: {
      steps: [
        up([{ name: "auth2", variant: 1, version: 1, text: "none" }], { stack: 1 }),
        up([declared("auth2")], {
          stack: 1,
          force: ["auth2"],
          deleteFirst: true,
          faults: [{ call: 1, kind: "refused" }],
        }),
      ],
      last: [[], [{ name: "auth2", variant: 1, version: 0, text: "none" }]],
    },
  },
  {
    title: "where marks are off a text that looks like a mark is a text",
    history: {
      setting: { ...plainSetting, marks: "none" },
      steps: [
        up([declared("auth1")]),
        up([{ ...declared("auth1"), text: "like a mark" }], { kill: { call: 1, acted: true } }),
      ],
      last: [[declared("auth1")], []],
    },
  },
  {
    title: "an object that a clock that was never set marked is no copy of itself",
    history: {
      steps: [
        up([declared("auth1")], {
          faults: [{ call: 0, kind: "forbidden", on: "list", lasting: false }],
          kill: { call: 1, acted: true },
        }),
        up([declared("auth1")]),
      ],
      last: [[declared("auth1")], []],
    },
  },
  {
    title: "a leftover is held by one without a mark, of a run that saw no states",
    history: {
      setting: { ...plainSetting, sight: false },
      steps: [
        up(
          [
            ...setUp,
            declared("flow1", 1),
            { ...declared("account1", 1), text: "long like a mark" },
          ],
          { kill: { call: 11, acted: true } },
        ),
        up([...setUp, declared("flow1"), declared("account1")], {
          force: ["flow1"],
          deleteFirst: true,
          faults: [{ call: 0, kind: "503-before", on: "item", lasting: true }],
        }),
      ],
      last: [[...setUp, declared("flow1"), declared("account1")], []],
    },
  },
  {
    title: "a name that a renamed resource still has is free once that has gone",
    history: {
      steps: [
        up(setUp.slice(0, 3)),
        { type: "rename", stack: 0, name: "bot1" },
        up([...setUp.slice(0, 2), declared("bot1", 1)], { kill: { call: 1, acted: true } }),
      ],
      last: [setUp.slice(0, 3), []],
    },
  },
  {
    title: "what was taken over keeps what its program leaves out, also when a person changes it",
    history: {
      steps: [
        { type: "foreign", name: "auth1", variant: 0 },
        up([declared("auth1")], { adopt: [{ name: "auth1", how: "name", place: 0 }] }),
        { type: "change", place: 0 },
      ],
      last: [[declared("auth1")], []],
    },
  },
  {
    title: "an object without a mark that a person's copy uses is removed with the copy",
    history: {
      steps: [
        up([
          ...[declared("auth1"), declared("auth2"), declared("app1")],
          { ...declared("app2"), text: "over" },
          declared("bot1"),
          declared("flow2"),
        ]),
        { type: "copy", place: 5, age: "soon", isRenamed: false },
        { type: "forget", stack: 0, name: "app2" },
      ],
      last: [[], []],
    },
  },
  {
    title: "a copy that is taken over keeps the optional members that its original was given",
    history: {
      steps: [
        up([...setUp.slice(0, 3), { ...declared("flow1"), more: 2 }]),
        { type: "copy", place: 3, age: "soon", isRenamed: false },
        up([]),
      ],
      last: [[...setUp.slice(0, 3), declared("flow1")], []],
    },
  },
  {
    title:
      "half of an interrupted replacement is not taken for the resource, if the other was renamed",
    history: {
      steps: [
        up(setUp),
        up(setUp, { force: ["bot1"], kill: { call: 3, acted: false } }),
        { type: "rename", stack: 0, name: "bot1" },
      ],
      last: [[...setUp, declared("bot2")], []],
    },
  },
];
