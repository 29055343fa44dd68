/**
 * What is wrong with a proof. `MALFORMED`: not in the form of an `eth_getProof` result. `ROOT_DIFFERS`: the proof belongs to another root.
 * `NODES_WRONG`: the nodes do not connect the root with the key. `VALUE_DIFFERS`: the proof is sound, but the claimed value is not the proved one.
 * `ADDRESS_DIFFERS`, `SLOT_MISSING`: the proof is of another account, or lacks a requested slot. `OUTPUT_ROOT_DIFFERS`: the parts have another root.
 */
export type ProblemCode =
  | 'MALFORMED'
  | 'ROOT_DIFFERS'
  | 'NODES_WRONG'
  | 'VALUE_DIFFERS'
  | 'ADDRESS_DIFFERS'
  | 'SLOT_MISSING'
  | 'OUTPUT_ROOT_DIFFERS'

export type Problem = {
  readonly code: ProblemCode
  /** path of the wrong part in the input, such as `storageProof[1].proof[2]` */
  readonly at: string
  readonly reason: string
}

/** Thrown inside this module for the first problem of an account or a slot; the public functions return it. */
export class Refusal extends Error {
  readonly problem: Problem

  constructor(code: ProblemCode, at: string, reason: string) {
    super(`${at}: ${reason}`)
    this.problem = { code, at, reason }
  }
}

/** Returns the result of a check, or the problem that it found. */
export function problemOr<T>(check: () => T): { readonly value: T } | { readonly problem: Problem } {
  try {
    return { value: check() }
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.problem }
    throw error
  }
}
