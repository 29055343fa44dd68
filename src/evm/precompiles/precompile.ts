/** A contract implemented by the client. */
export type Precompile = {
  /** Returns the gas of a call with this input. Never throws; fast for any input length. */
  gas(input: Uint8Array): bigint
  /** Returns the output; undefined means that the call fails and consumes all its gas. Only called once the gas is paid. */
  run(input: Uint8Array): Uint8Array | undefined
}

/** Returns `length` bytes of the input from `at` on, padded with zeros. A copy or a view. */
export function readPadded(input: Uint8Array, at: number, length: number): Uint8Array {
  const bytes = input.subarray(at, at + length)
  if (bytes.length === length) return bytes
  const padded = new Uint8Array(length)
  padded.set(bytes)
  return padded
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

export function words(bytes: number): bigint {
  return BigInt(Math.ceil(bytes / 32))
}

/** Returns 32 bytes that encode a boolean. */
export function booleanWord(value: boolean): Uint8Array {
  const word = new Uint8Array(32)
  word[31] = value ? 1 : 0
  return word
}

/**
 * Returns the same contract with a maximum input size, above which it fails. @see specs protocol/{granite,isthmus,jovian}/exec-engine.md,
 * "Precompiles"
 */
export function limited(precompile: Precompile, maxBytes: number | undefined): Precompile {
  if (maxBytes === undefined) return precompile
  return { gas: precompile.gas, run: (input) => (input.length > maxBytes ? undefined : precompile.run(input)) }
}
