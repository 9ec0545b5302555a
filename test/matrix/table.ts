import { answers, refusals } from "./rows/answers.js";
import { connections, rateLimits, serviceFailures, slow } from "./rows/failures.js";
import { inputs, lists, neighbours } from "./rows/objects.js";
import { type Operation, operations } from "./support/acts.js";
import type { Cell, Group, Reason, Row } from "./support/cell.js";
import type { Ended, Observed } from "./support/disturbed.js";

/** The whole matrix. */
export const groups: readonly Group[] = [
  rateLimits,
  connections,
  serviceFailures,
  answers,
  slow,
  refusals,
  lists,
  neighbours,
  inputs,
];

type Seen = ReadonlyMap<string, Observed>;

const names: Readonly<Record<Operation, string>> = {
  create: "create (POST)",
  list: "read from the list (GET)",
  get: "read the object (GET)",
  update: "update (PUT)",
  delete: "delete (DELETE)",
  token: "fetch a token (POST)",
};

const signs: Readonly<Record<Ended | "no test", string>> = {
  done: "✓",
  failed: "✗",
  "failed, then done": "✗ ✓",
  "no test": "–",
};

const isReason = (cell: Cell): cell is Reason => typeof cell === "string";

/** The id of a cell's test. */
export const cellId = (fault: string, operation: Operation): string => `${fault}/${operation}`;

const cellsOf = (groups: readonly Group[]): readonly Cell[] =>
  groups.flatMap(({ rows }) => rows.flatMap(({ cells }) => Object.values(cells)));

/** How many cells have a test. */
export const testedCells = (groups: readonly Group[]): number =>
  cellsOf(groups).filter((cell) => !isReason(cell)).length;

const observedIn = (seen: Seen, fault: string, operation: Operation): Observed => {
  const observed = seen.get(cellId(fault, operation));
  if (!observed) throw new Error(`the test of ${cellId(fault, operation)} saw nothing`);
  return observed;
};

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const table = (head: readonly string[], lines: readonly string[]): string =>
  [line(head), line(head.map(() => "---")), ...lines].join("\n");

/** Operations of a row that have the same reason are told together. */
const reasonLines = ({ cells }: Row): readonly string[] => {
  const reasons = [...new Set(Object.values(cells).filter(isReason))];
  return reasons.map((reason) => {
    const same = operations.filter((operation) => cells[operation] === reason);
    const which =
      same.length === operations.length
        ? "every operation"
        : same.map((each) => names[each]).join(", ");
    return line([which, reason, "–", "–"]);
  });
};

const details = (row: Row, seen: Seen): string => {
  const { fault, title, cells } = row;
  const tested = operations.flatMap((operation) => {
    const cell = cells[operation];
    if (isReason(cell)) return [];
    const { ended, seen: text } = observedIn(seen, fault, operation);
    return line([
      names[operation],
      cell.words,
      `${signs[ended]} ${text}`,
      `\`${cellId(fault, operation)}\``,
    ]);
  });
  const head = ["Operation", "What happens", "Result: what the test saw", "Test"];
  return `### ${title}\n\n${table(head, [...tested, ...reasonLines(row)])}`;
};

const section = ({ title, rows }: Group, seen: Seen): string =>
  [`## ${title}`, ...rows.map((row) => details(row, seen))].join("\n\n");

const introduction = `# Fault matrix

What happens when something goes wrong at the worst moment: every fault with every operation. Each has a
test, or a reason why there is none. This page is written by those tests (\`test/matrix\`, over real sockets, with the real life
cycle): its results are what they saw, and it is written only when all of them passed. A test fails when the page differs from what
it sees (\`UPDATE_DOCS=1\` writes it).

- ${signs.done} the operation succeeds in spite of the fault.
- ${signs["failed, then done"]} it fails with a message that says what to do, and the next run succeeds.
- ${signs.failed} it is refused with a message that says what to do, and nothing is touched.
- ${signs["no test"]} not applicable, with the reason.

Whatever the cell says, each of its tests also proves that exactly the objects that should be there are there: none lost, none
made twice, none of somebody else touched.

A result shows the calls that were sent while the fault was there, in their order, and after the arrow what the service holds in
the end. “In all” counts the calls of a whole test, preparations included. \`list\` reads a collection, \`GET\` one object. Waiting is
on the clock of the run, which a test moves; repeats after a lost connection pause half a second at first, then twice as long each
time, at most eight seconds and two minutes in all.`;

/** The matrix as a page, with what its tests saw. */
export const matrixPage = (groups: readonly Group[], seen: Seen): string =>
  [introduction, ...groups.map((group) => section(group, seen)), ""]
    .join("\n\n")
    .replace(/\n+$/, "\n");
