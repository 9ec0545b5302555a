import { type Operation, operations } from "./support/acts.js";
import type { Cell, Group, Row } from "./support/cell.js";

const names: Readonly<Record<Operation, string>> = {
  create: "create (POST)",
  list: "read from the list (GET)",
  get: "read the object (GET)",
  update: "update (PUT)",
  delete: "delete (DELETE)",
  token: "fetch a token (POST)",
};

const isReason = (cell: Cell): cell is string => typeof cell === "string";

/** What several cells say in the same words is said once. */
const linesOf = ({ fault, title, cells }: Row): string[] => {
  const words = (operation: Operation): string => {
    const cell = cells[operation];
    if (isReason(cell)) return cell;
    return "defect" in cell ? `${cell.words} (**not true yet**: ${cell.defect})` : cell.words;
  };
  return operations.map((operation, place) => {
    const id = isReason(cells[operation]) ? "–" : `\`${fault}/${operation}\``;
    const shown = place === 0 ? title : "";
    return `| ${shown} | ${names[operation]} | ${id} | ${words(operation)} |`;
  });
};

const section = ({ title, rows }: Group): string =>
  [
    `## ${title}`,
    "",
    "| Fault | Operation | Test | What happens |",
    "|---|---|---|---|",
    ...rows.flatMap(linesOf),
  ].join("\n");

const introduction = (tests: number, reasons: number): string =>
  [
    "# Fault matrix",
    "",
    "What happens when something goes wrong at the worst moment: every fault with every operation, each cell with the test that proves it",
    `(${tests} tests) or the reason why there is none (${reasons}). Generated from the tests in \`test/matrix\`, which run over real sockets with`,
    "the real life cycle; a test fails when this page is not up to date (`UPDATE_DOCS=1` writes it).",
    "",
    "Whatever the cell says, each of its tests also proves that exactly the objects that should be there are there: none lost, none made twice,",
    "none of somebody else touched. Where an operation fails, the test runs it once more undisturbed and proves the same again.",
    "",
    "Repeats pause half a second at first, then twice as long each time, at most eight seconds and two minutes in all.",
    "",
  ].join("\n");

/** The matrix as a page. */
export const matrixPage = (groups: readonly Group[]): string => {
  const cells = groups.flatMap(({ rows }) => rows.flatMap((row) => Object.values(row.cells)));
  const reasons = cells.filter(isReason).length;
  return `${[introduction(cells.length - reasons, reasons), ...groups.map(section)].join("\n\n").replace("\n\n\n", "\n\n")}\n`;
};
