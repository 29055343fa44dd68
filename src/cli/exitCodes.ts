import { isFault } from '#lib/fault'

/** Exit codes of commands, for scripts. A devnet, a node and an interrupted command have more; README.md lists all. */
export const exitCodes = {
  done: 0,
  /** the check failed, the node is not ready, or there is no such block, transaction or account */
  failed: 1,
  /** wrong use, or a fault */
  fault: 2,
  /** the node does not answer */
  noAnswer: 4,
  /** an unexpected error */
  internal: 70,
} as const

/** Returns the exit code of a thrown error. */
export function exitCodeOf(error: unknown): number {
  if (!isFault(error)) return exitCodes.internal
  return error.code === 'NODE_SILENT' ? exitCodes.noAnswer : exitCodes.fault
}
