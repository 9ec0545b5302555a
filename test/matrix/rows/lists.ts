import { expect } from "vitest";
import { channel } from "../../../provider/resources/channel.js";
import { orchestration } from "../../../provider/resources/orchestration.js";
import {
  type Arrange,
  done,
  type Ending,
  everywhere,
  fails,
  type Group,
  type OwnCell,
  row,
} from "../support/cell.js";
import { acceptAnyReference, create, flow, someId } from "../support/resource.js";
import type { Stage } from "../support/stage.js";
import type { Passing } from "../support/wire.js";

const always = 1000;
const listless = "not applicable: asks for no list";

/** Seventeen objects of somebody else, so that the list has a second page. */
const crowded = async (stage: Stage): Promise<void> => {
  const icon = "aVZC";
  for (let number = 1; number <= 17; number++) {
    await stage.service.create(channel, {
      type: `custom.other-${number}`,
      displayName: "Other",
      icon,
    });
  }
  stage.nextRun();
};

const secondPage =
  (status: number, times: number): Arrange =>
  async (stage) => {
    await stage.hub.faults({ on: "GET /channels", kind: "status", status, after: 1, times });
  };

const applications = { agentConfiguration: { agents: [{ id: someId }] } };

/** Of a kind whose names need not be unique, so that the service itself keeps nobody from making a second one. */
const crowdedFlows = async (stage: Stage): Promise<void> => {
  await acceptAnyReference(stage);
  for (let number = 1; number <= 17; number++) {
    await stage.service.create(orchestration, { name: `other-${number}`, applications });
  }
  stage.nextRun();
};

/** Refuses every page but the first. */
const onlyFirst = ({ status, text }: Passing): Passing =>
  JSON.parse(text).paginationInfo?.pagenum === 1 ? { status, text } : { status: 400, text: "{}" };

/** One object beside the crowd, whatever page it is on. */
const onlyOne = async (stage: Stage): Promise<unknown> => {
  const objects = await stage.hub.objects("channels");
  const own = objects.filter(({ type }) => type === "custom.kiosk");
  expect(own).toHaveLength(1);
  return own[0]?.id;
};

const pagedCreation = (arrange: Arrange, { words, fails: message }: Ending): OwnCell => ({
  words,
  test: async (stage) => {
    await crowded(stage);
    await arrange(stage, "", "create");
    if (message) {
      await expect(create(stage)).rejects.toThrow(message);
      expect(await stage.hub.objects("channels")).toHaveLength(17);
      await stage.calm();
      stage.nextRun();
    }
    const { id } = await create(stage);
    expect(await onlyOne(stage)).toBe(id);
  },
});

const pagedReading = (arrange: Arrange, { words, fails: message }: Ending): OwnCell => ({
  words,
  test: async (stage) => {
    await crowded(stage);
    const entry = await create(stage);
    stage.nextRun();
    await arrange(stage, "", "list");
    const reading = stage.of("Channel").read(entry.id, entry.state);
    if (message) await expect(reading).rejects.toThrow(message);
    else expect(await reading).toMatchObject({ id: entry.id });
    expect(await onlyOne(stage)).toBe(entry.id);
  },
});

/** A creation of an orchestration that is refused before any POST. */
const refusedFlow = (
  message: RegExp,
  words: string,
  /** Gives the number of orchestrations that are there. */
  arrange: (stage: Stage) => Promise<number>,
): OwnCell => ({
  words,
  test: async (stage) => {
    const others = await arrange(stage);
    await expect(create(stage, flow, "Orchestration")).rejects.toThrow(message);
    expect(stage.sentTo("POST /orchestrations")).toBe(others);
    await stage.calm();
    stage.nextRun();
    const { id } = await create(stage, flow, "Orchestration");
    const objects = await stage.hub.objects("orchestrations");
    expect(objects.filter(({ name }) => name === "flow")).toMatchObject([{ id }]);
  },
});

const repeated = done(0, "the page is asked for again, up to four times");

/** The POST is answered by nobody, and the list does not show the object yet. */
const invisible: Arrange = async (stage) => {
  await stage.hub.faults(
    { on: "POST /channels", kind: "drop-after-commit" },
    { on: "GET /channels", kind: "stale-list", ms: 60_000, after: 1, times: always },
  );
  stage.hub.emulator.advance(1000);
};

const behind: Arrange = (stage, on) =>
  stage.hub.faults({ on, kind: "stale-list", ms: 60_000, times: always });

export const lists: Group = {
  title: "Lists",
  rows: [
    row("list-behind", "The list does not show what was made a moment ago", behind, {
      ...everywhere(listless),
      list: done(1, "absence from the list is confirmed by the object itself, which is there"),
      create: {
        words:
          "after a lost answer the object is POSTed again and the service refuses its name; the next run finds the object and takes it over",
        test: async (stage) => {
          await invisible(stage, "", "create");
          await expect(create(stage)).rejects.toThrow(/unique/);
          await stage.calm();
          stage.nextRun();
          const { id } = await create(stage);
          expect(await onlyOne(stage)).toBe(id);
        },
      },
    }),
    row("page-fails", "The second page fails once", () => {}, {
      ...everywhere(listless),
      create: pagedCreation(secondPage(503, 1), repeated),
      list: pagedReading(secondPage(503, 1), repeated),
    }),
    row("page-fails-for-long", "The second page always fails", () => {}, {
      ...everywhere(listless),
      create: pagedCreation(
        secondPage(503, always),
        fails(
          0,
          /failed in the service \(503/,
          "fails before any POST; the next run makes the object once",
        ),
      ),
      list: pagedReading(
        secondPage(503, always),
        fails(0, /failed in the service \(503/, "fails: half a list proves nothing"),
      ),
    }),
    row("page-refused", "The second page is refused", () => {}, {
      ...everywhere(listless),
      list: pagedReading(
        secondPage(400, always),
        done(0, "absence from the first page is confirmed by the object itself, which is there"),
      ),
      create: refusedFlow(
        /gives only a part of the list/,
        "fails before any POST of an orchestration, whose name need not be unique: it may be there already; the next run makes it",
        async (stage) => {
          await crowdedFlows(stage);
          stage.wire.add({
            on: "GET /orchestrations",
            do: "answer",
            with: onlyFirst,
            times: always,
          });
          return 17;
        },
      ),
    }),
    row("list-forbidden", "The list is forbidden", () => {}, {
      ...everywhere(listless),
      list: "not applicable: see `forbidden/list`",
      create: refusedFlow(
        /Let the client list orchestrations/,
        "fails before any POST of an orchestration, whose name need not be unique: it may be there already; the next run makes it",
        async (stage) => {
          await acceptAnyReference(stage);
          await stage.hub.faults({
            on: "GET /orchestrations",
            kind: "forbidden-list",
            times: always,
          });
          return 0;
        },
      ),
    }),
  ],
};
