import type { Header } from '#types/header'
import type { Hash } from '#types/ids'
import type { Grade } from '#types/trust'

/** Judge of the block that a chain begins with. */
export interface TrustPort {
  /**
   * Returns the grade of a header.
   * @param headers at and below the block, as far as the source has them, ascending
   * @throws Fault when the grade that the operator demands is not reached; it names what is missing
   */
  verifyHeader(header: Header, hash: Hash, signal: AbortSignal): Promise<Grade>
}
