import type { Definition, Field, Fields, ObjectField } from "../../provider/definition/define.js";

/** A nested object of a kind and the name of its type. */
export interface Shape {
  readonly name: string;
  readonly field: ObjectField;
}

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const singular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");

const isSame = (a: ObjectField, b: ObjectField): boolean =>
  JSON.stringify(keysOf(a)) === JSON.stringify(keysOf(b));
const keysOf = (field: ObjectField): string[] => Object.keys(field.fields);

/** Every nested object of a kind, inner ones first, each under a name of its own. */
export const shapesOf = (definition: Definition): readonly Shape[] => {
  const shapes: Shape[] = [];
  const add = (field: ObjectField, name: string, parent: string): void => {
    const plain = `${definition.kind}${name}`;
    const taken = shapes.find((shape) => shape.name === plain);
    if (taken && isSame(taken.field, field)) return;
    shapes.push({ name: taken ? `${definition.kind}${parent}${name}` : plain, field });
  };
  const visit = (field: Field, name: string, parent: string): void => {
    if (field.type === "list") visit(field.of, singular(name), parent);
    if (field.type === "map") visit(field.of, singular(name), parent);
    if (field.type !== "object") return;
    visitAll(field.fields, pascal(name));
    add(field, pascal(name), parent);
  };
  const visitAll = (fields: Fields, parent: string): void => {
    for (const [name, field] of Object.entries(fields)) visit(field, name, parent);
  };
  visitAll(definition.fields, "");
  return shapes;
};

/** Name of the type of one nested object. */
export const shapeName = (shapes: readonly Shape[], field: ObjectField): string => {
  const shape =
    shapes.find((candidate) => candidate.field === field) ??
    shapes.find((candidate) => isSame(candidate.field, field));
  if (!shape) throw new Error(`No type for the object ${keysOf(field).join(", ")}`);
  return shape.name;
};
