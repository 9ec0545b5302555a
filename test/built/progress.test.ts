import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type TestContext, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const { Channel } = require("pulumi-conversation");
for (const name of ["a", "b", "c", "d"]) new Channel(name, { type: "custom." + name, displayName: name, icon: "aVZC" });
`;

const limits = { CONVERSATION_PLAN: "basic", CONVERSATION_BURST: "1" };

const opened = async ({ onTestFinished }: TestContext): Promise<EmulatedProject> => {
  const project = await emulatedProject(program, { plan: "basic", burst: 1 }, limits);
  onTestFinished(() => project.close());
  return project;
};

// Side by side: each of them waits for its rate most of the time.
test.concurrent("a log has one line that says how far the run is, and none for each resource", async (context) => {
  const { expect } = context;
  const project = await opened(context);
  const begun = performance.now();
  const output = await project.succeed(["up", "--yes"]);
  const reported = output.split("\n").filter((line) => line.includes(" left"));
  // The next one comes after half a minute, which the run takes only on a busy machine.
  const most = 1 + Math.floor((performance.now() - begun) / 30_000);
  expect(reported.length).toBeLessThanOrEqual(most);
  // Four channels and the list that is looked at first, foreseen by the preview.
  expect(reported[0] ?? "none").toMatch(
    /pulumi:pulumi:Stack .*\b[1-4]\/5 calls, \d+ s left, limited by POST \/channels/,
  );
});

/** What a terminal of so many columns and rows shows of what is written to it. */
interface TerminalScreen {
  write(text: string): void;
  /** Its rows from top to bottom, without the space at their ends. */
  lines(): readonly string[];
}

interface Cursor {
  readonly row: number;
  readonly column: number;
}

/** One piece of what a program sends: a sequence for the terminal, a control character, or a character. */
const piece =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal acts on
  /\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b([78])|[\r\n]|[^\x1b]/gu;

/** As much of a terminal as Pulumi's table needs: lines, cursor up, erasing, wrapping, scrolling. */
const terminalScreen = (columns: number, rows: number): TerminalScreen => {
  const cells = Array.from({ length: rows }, () => Array<string>(columns).fill(" "));
  let at: Cursor = { row: 0, column: 0 };
  let saved = at;
  let wraps = true;
  let unread = "";
  const down = (): void => {
    if (at.row < rows - 1) at = { ...at, row: at.row + 1 };
    else cells.push(...cells.splice(0, 1).map((row) => row.fill(" ")));
  };
  const sequence = (numbers: string, letter: string): void => {
    const count = Number(numbers) || 1;
    if (letter === "A") at = { ...at, row: Math.max(0, at.row - count) };
    if (letter === "K") cells[at.row]?.fill(" ", at.column);
    if (numbers === "?7") wraps = letter === "h";
  };
  const print = (character: string): void => {
    if (at.column === columns && wraps) {
      down();
      at = { ...at, column: 0 };
    }
    const column = Math.min(at.column, columns - 1);
    cells[at.row]?.splice(column, 1, character);
    at = { ...at, column: column + 1 };
  };
  const act = ([text, numbers, letter, store]: RegExpExecArray): void => {
    if (letter) sequence(numbers ?? "", letter);
    else if (store === "7") saved = at;
    else if (store === "8") at = saved;
    else if (text === "\r") at = { ...at, column: 0 };
    else if (text === "\n") down();
    else if (text.length <= 2 && !text.startsWith("\x1b")) print(text);
  };
  return {
    write: (text) => {
      const all = unread + text;
      // What is cut off in the middle waits for its other part.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these begin and end what a terminal acts on
      const whole = all.replace(/\x1b(\[[?\d;]*|\][^\x07]*)?$/, "");
      unread = all.slice(whole.length);
      for (const match of whole.matchAll(piece)) act(match);
    },
    lines: () => cells.map((row) => row.join("").trimEnd()),
  };
};

/** Everything that a command sent to a terminal of its own, and what could be read there meanwhile. */
interface Watched {
  readonly sent: string;
  readonly last: readonly string[];
  /** The lines that say how far the run is, in the order they came. */
  readonly reported: readonly string[];
  /** Longest time without one, between the first and the last of them, in milliseconds. */
  readonly longestGapMs: number;
}

const howFar =
  /\d+(\/| of at least )\d+ calls, (at least )?(\d+ min )?\d+ s left, limited by POST \/channels/;

/** Runs a command in a terminal, and looks at it as often as a person could. */
const inTerminal = (
  { columns, rows }: Size,
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Watched> => {
  const screen = terminalScreen(columns, rows);
  const line = `stty cols ${columns} rows ${rows}; ${command}`;
  const shell = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd,
    env: { ...env, TERM: "xterm-256color", CI: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let sent = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    sent += text;
    screen.write(text);
  });
  const reported: string[] = [];
  const seenAt: number[] = [];
  const look = setInterval(() => {
    const found = screen.lines().flatMap((row) => howFar.exec(row)?.[0] ?? []);
    if (found.length > 0) seenAt.push(performance.now());
    reported.push(...found.filter((text) => text !== reported.at(-1)));
  }, 50);
  return new Promise((resolve) => {
    shell.on("close", () => {
      clearInterval(look);
      const gaps = seenAt.slice(1).map((at, place) => at - (seenAt[place] ?? at));
      const longestGapMs = Math.max(0, ...gaps);
      resolve({ sent, last: screen.lines(), reported, longestGapMs });
    });
  });
};

const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

interface Size {
  readonly columns: number;
  readonly rows: number;
}

const inPulumi = async (context: TestContext, size: Size, args: string): Promise<Watched> => {
  const project = await opened(context);
  const pulumi = join(process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "", "pulumi");
  return project.inShell((env, folder) => inTerminal(size, `"${pulumi}" ${args}`, env, folder));
};

// The last one is too low for the table.
test.runIf(hasScript).concurrent.for([
  { columns: 80, rows: 40, args: "up --yes", total: /^\d\/5 calls, \d+ s left/ },
  {
    columns: 100,
    rows: 40,
    args: "up --yes --skip-preview",
    total: /^\d of at least \d calls, at least /,
  },
  {
    columns: 80,
    rows: 6,
    args: "up --yes --skip-preview",
    total: /^\d of at least \d calls, at least /,
  },
])(
  "$args in a terminal of $columns × $rows: how far the run is can be read all the time, and goes with it",
  async ({ args, total, ...size }, context) => {
    const { expect } = context;
    const { reported, last, longestGapMs } = await inPulumi(context, size, args);
    expect(reported.length).toBeGreaterThan(1);
    for (const text of reported) expect(text).toMatch(total);
    // The promise is half a minute; a machine that is at its limits stands still for seconds.
    expect(longestGapMs).toBeLessThan(10_000);
    expect(last.join("\n")).toMatch(/Duration: /);
    expect(last.join("\n")).not.toContain(" left");
  },
);

test
  .runIf(hasScript)
  .concurrent(
    "a wide terminal shows the numbers in the rows, takes them away, and has them in its title",
    async (context) => {
      const { expect } = context;
      const size = { columns: 180, rows: 40 };
      const { sent } = await inPulumi(context, size, "up --yes --skip-preview");
      // With or without colours, which depend on the terminal.
      const drawn = stripVTControlCharacters(sent);
      expect(drawn).toMatch(
        /Stack +\S+ +creating \(\d+s\)\S* +\d of at least \d calls, at least \d+ s left/,
      );
      expect(drawn).toMatch(/Channel +[a-d] +creating \(\d+s\)\S* +\d+ s left for POST/);
      for (const name of ["a", "b", "c", "d"]) {
        // The engine draws on its own, and once more at the end.
        const last = drawn.match(new RegExp(`Channel +${name} +created[^\\n]*`, "g"))?.at(-1);
        expect(last).toBeDefined();
        expect(last).not.toContain(" left for");
      }
      const titles = sent.split("\x1b]2;").slice(1);
      expect(titles[0]).toMatch(
        /^\d of at least \d calls, at least \d+ s left, limited by POST \/channels/,
      );
      expect(sent).toContain("\x1b[23;2t");
    },
  );
