import { done, everywhere, fails, faulty, type Group, row } from "../support/cell.js";

const statuses = [500, 502, 503, 504];

const again = "harmless to repeat, so it is sent again, up to four times";

export const serviceFailures: Group = {
  title: "Failures of the service",
  rows: [
    ...statuses.map((status) =>
      row(
        `status-${status}`,
        `${status} before the service acts`,
        faulty({ kind: "status", status }),
        everywhere(done(2, again), {
          create: done(
            2,
            "its effect is not known: a fresh list is searched for the own mark, and only as it is not there the object is made by another POST",
          ),
        }),
      ),
    ),
    row(
      "failure-after",
      "500 after the service acted",
      faulty({ kind: "status-after-commit", status: 500 }),
      everywhere(done(2, again), {
        create: done(
          1,
          "a fresh list is searched for the own mark, the object is found and taken over",
        ),
        update: done(2, "the whole object is sent again; the second PUT changes nothing"),
        delete: done(2, "sent again; the 404 that follows counts as done"),
      }),
    ),
    row(
      "failure-for-long",
      "503 without an end",
      faulty({ kind: "status", status: 503, times: 1000 }),
      everywhere(
        fails(5, /failed .*503|failed \(503\)/, "fails after four repeats; the next run succeeds"),
        {
          create: fails(
            3,
            /failed in the service \(503/,
            "looks for its mark after each attempt and fails after the third; the next run makes the object once",
          ),
        },
      ),
    ),
  ],
};
