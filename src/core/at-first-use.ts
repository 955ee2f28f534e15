/** Values that are made when they are first needed, since many runs never need them. Pure. */

export function atFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
