/** A contract that the client itself runs. */
export type Precompile = {
  /** Price of a call with this input, whatever becomes of it. Never throws, and costs little however long the input. */
  gas(input: Uint8Array): bigint
  /** What the call returns; undefined: it fails, and takes all the gas it was given. Only called when the price was paid. */
  run(input: Uint8Array): Uint8Array | undefined
}

/** `length` bytes of the input from `at` on; what the input lacks is zero. A copy or a view. */
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

/** 32 bytes that say true or false. */
export function booleanWord(value: boolean): Uint8Array {
  const word = new Uint8Array(32)
  word[31] = value ? 1 : 0
  return word
}

/** The same contract, failing above a number of input bytes. @see specs protocol/{granite,isthmus,jovian}/exec-engine.md, "Precompiles" */
export function limited(precompile: Precompile, maxBytes: number | undefined): Precompile {
  if (maxBytes === undefined) return precompile
  return { gas: precompile.gas, run: (input) => (input.length > maxBytes ? undefined : precompile.run(input)) }
}
