/** Makes the value on the first call and gives the same one ever after. A `make` that throws is tried again by the next call. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
