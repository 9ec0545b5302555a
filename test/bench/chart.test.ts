import { expect, test } from "vitest";
import { chart, panelsOf } from "../../bench/report.js";
import { creation, figures } from "./figures.js";

/** Tags that are not closed in their order, or closed without being open. */
const unbalanced = (svg: string): string[] => {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, closing, name = "", rest = ""] of svg.matchAll(/<(\/?)([a-z]+)([^>]*)>/g)) {
    if (closing) {
      if (open.pop() !== name) wrong.push(`/${name}`);
    } else if (!rest.endsWith("/")) open.push(name);
  }
  return [...wrong, ...open];
};

test("every tag of the chart is closed", () => {
  expect(unbalanced(chart(figures(), 50))).toEqual([]);
});

test("the chart has one root with a size", () => {
  const svg = chart(figures(), 50);
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 \d+ \d+"/);
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

test("signs with a meaning in XML are escaped", () => {
  const svg = chart(figures({ creation: [creation({ client: 'a<b & "c"' })] }), 50);
  expect(svg).toContain("a&lt;b &amp; &quot;c&quot;");
  expect(unbalanced(svg)).toEqual([]);
});

test("a client that failed gets no bar but the number of its failures", () => {
  const failing = creation({ client: "x", failed: 40, overIdeal: null });
  const svg = chart(figures({ creation: [failing], disturbed: [] }), 50);
  expect(svg).toContain("40 of 50 failed");
  expect(svg).not.toContain('class="bar"');
});

test("a bar that is too long is cut, and its number is not", () => {
  const slow = creation({ client: "x", overIdeal: 3.49 });
  const svg = chart(figures({ creation: [slow], disturbed: [] }), 50);
  expect(svg).toContain('class="cut"');
  expect(svg).toContain("3.49");
});

test("a chart without figures is still a document", () => {
  expect(unbalanced(chart(figures({ creation: [], disturbed: [] }), 50))).toEqual([]);
});

test("panels are by plan, then the empty bucket; what is shared has no ideal and no panel", () => {
  const given = {
    creation: [creation(), creation({ plan: "basic", rate: 0.5 }), creation({ resources: 10 })],
    disturbed: [creation({ situation: "empty" }), creation({ situation: "shared" })],
  };
  const titles = panelsOf(given, 50).map(({ title, rows }) => `${title} (${rows.length})`);
  expect(titles).toEqual([
    "Developer: 0.16 calls/s (1)",
    "Basic: 0.5 calls/s (1)",
    "Developer, empty bucket (1)",
  ]);
});
