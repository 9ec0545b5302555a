/**
 * A memory that every copy of this package in one program shares: an application's, and those that
 * component libraries bring along. What it holds may come from another release, so that whoever
 * reads it checks what he finds. The name is never changed.
 */
export const sharedMemory = (name: string): WeakMap<object, unknown> => {
  const key = Symbol.for(`pulumi-conversation/${name}`);
  const known: unknown = Reflect.get(globalThis, key);
  if (known instanceof WeakMap) return known;
  const made = new WeakMap<object, unknown>();
  // Where another release keeps something else under this name, it needs it.
  if (known === undefined) Reflect.set(globalThis, key, made);
  return made;
};
