import { referencesIn } from "../../provider/definition/walk.js";
import { digest } from "../../provider/lifecycle/ownership/mark.js";
import type { ComparedSide } from "./compared-account.js";

/** `orders-bot-cacbb85` is `orders-bot` of another stack. */
export const nameStem = (name: string): string | undefined => /^(.+)-[0-9a-f]{7}$/.exec(name)?.[1];

/** A name as people compare it. */
export const plainName = (name: string): string => name.normalize("NFC").trim();

/** How far objects are followed: an account leads to a channel, or over two more to an authentication. */
const rounds = 3;
const length = 16;

const keyOf = ({ definition: { kind } }: ComparedSide, id: string): string => `${kind} ${id}`;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly path: string;
}

const edgesAmong = (objects: readonly ComparedSide[]): readonly Edge[] =>
  objects.flatMap((object) =>
    referencesIn(object.definition.fields, object.fields).map(({ to, id, path }) => ({
      from: keyOf(object, object.id),
      to: `${to.kind} ${id}`,
      path,
    })),
  );

const firstText = ({ definition: { kind }, name }: ComparedSide): string => {
  const plain = plainName(name);
  return `${kind} ${nameStem(plain) ?? plain}`;
};

/**
 * A text for each object that says by what names it is surrounded: what it refers to, and what refers to
 * it. Two objects of one name on one side are told apart by it, and found again on another side.
 */
export const neighbours = (objects: readonly ComparedSide[]): ReadonlyMap<ComparedSide, string> => {
  const edges = edgesAmong(objects);
  const [out, into] = [Map.groupBy(edges, ({ from }) => from), Map.groupBy(edges, ({ to }) => to)];
  let texts = new Map(objects.map((each) => [keyOf(each, each.id), firstText(each)]));
  for (let round = 0; round < rounds; round += 1) {
    const before = texts;
    const around = (key: string): readonly string[] => [
      before.get(key) ?? key,
      ...(out.get(key) ?? []).map(({ path, to }) => `> ${path} ${before.get(to) ?? ""}`).sort(),
      ...(into.get(key) ?? []).map(({ path, from }) => `< ${path} ${before.get(from)}`).sort(),
    ];
    texts = new Map([...before.keys()].map((key) => [key, digest(around(key).join("\n"), length)]));
  }
  return new Map(objects.map((each) => [each, texts.get(keyOf(each, each.id)) ?? ""]));
};
