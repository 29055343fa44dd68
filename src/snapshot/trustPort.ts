import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Evidence } from '#types/trust'

/** Grades the block that a chain begins with. */
export interface TrustPort {
  /**
   * Returns what vouches for a header, with the L1 block and the proposal that were read.
   * @throws Fault when the grade is lower than the operator requires; it names the missing evidence
   */
  verifyHeader(header: Header, hash: Hash, signal: AbortSignal): Promise<Evidence>
}
