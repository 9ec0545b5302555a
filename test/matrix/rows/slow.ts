import { type Arrange, done, everywhere, fails, faulty, type Group, row } from "../support/cell.js";

const always = 1000;

/** The time allowed for the call is over as soon as it, or the first byte of its answer, has passed. */
const untilDeadline =
  (kind: "hang" | "drip", times: number): Arrange =>
  async (stage, on, operation) => {
    const at = kind === "hang" ? "call" : "answer";
    stage.wire.add({ on, do: "watch", at, run: stage.deadlines.pass, times });
    await faulty({ kind, times })(stage, on, operation);
  };

const again = "ended when the time allowed is over, then sent again";

export const slow: Group = {
  title: "Slow answers",
  rows: [
    row(
      "hang",
      "No answer at all",
      untilDeadline("hang", 1),
      everywhere(done(2, again), {
        create: done(
          2,
          "ended when the time allowed is over; a fresh list shows no effect, so the object is made by another POST",
        ),
      }),
    ),
    row(
      "hang-for-long",
      "Never an answer",
      untilDeadline("hang", always),
      everywhere(
        fails(
          5,
          /gave no complete answer in the time allowed/,
          "fails after four repeats; the next run succeeds",
        ),
        {
          create: fails(
            3,
            /gave no complete answer in the time allowed/,
            "looks for its mark after each attempt and fails after the third; the next run makes the object once",
          ),
        },
      ),
    ),
    row(
      "drip",
      "The answer comes byte by byte",
      untilDeadline("drip", 1),
      everywhere(done(2, again), {
        create: done(
          1,
          "ended when the time allowed is over; a fresh list is searched for the own mark, the object is found and taken over",
        ),
        update: done(
          1,
          "the status says that it worked; the rest is not waited for beyond the time allowed",
        ),
        delete: done(
          1,
          "the status says that it worked; the rest is not waited for beyond the time allowed",
        ),
      }),
    ),
  ],
};
