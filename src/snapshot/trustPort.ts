import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Grade } from '#types/trust'

/** Grades the block that a chain begins with. */
export interface TrustPort {
  /**
   * Returns the grade of a header.
   * @param headers at and below the block, in ascending order; those that the source provides
   * @throws Fault when the grade is lower than the operator requires; it names the missing evidence
   */
  verifyHeader(header: Header, hash: Hash, signal: AbortSignal): Promise<Grade>
}
