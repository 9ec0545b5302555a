/** What a command prints as JSON: what its schema says, at every depth not to be changed. */
export type Printed<T> = unknown extends T ? T : { readonly [Name in keyof T]: Printed<T[Name]> };
