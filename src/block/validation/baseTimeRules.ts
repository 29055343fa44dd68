import { baseTimeAddress } from '#chainspec/addresses'
import { baseTimeIndex, baseTimeSetterIndex, readBaseTime } from '#chainspec/baseTime'
import { denimBlockMs } from '#chainspec/blockTime'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import type { EvmSession } from '#evm/ports'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { Header } from '#types/header'
import { zeroHash } from '#types/ids'
import type { BlockInput } from '../execution/executedBlock.ts'

/** Returns the milliseconds that BaseTime holds: those of the last block's time. */
function storedMillisPart(session: EvmSession): number {
  return Number(session.slot(baseTimeAddress, zeroHash) & 0xffffn)
}

/**
 * Returns why a block's BaseTime deposit cannot follow the parent, or undefined. Before Denim no deposit may set the milliseconds. A Denim block is
 * due 200 ms after its parent; the first one is due at a whole second.
 * @param session with the state of the parent
 * @see Base's documentation, "Denim", BaseTime
 */
export function baseTimeRefusal(
  schedule: ForkSchedule,
  session: EvmSession,
  parent: Header,
  { timestamp, transactions }: Pick<BlockInput, 'timestamp' | 'transactions'>,
): string | undefined {
  if (schedule.denim === undefined) return undefined
  if (!isActive(schedule, 'denim', timestamp)) {
    const setter = baseTimeSetterIndex(transactions)
    return setter === -1 ? undefined : `protocol-authorized BaseTime setter at tx[${setter}] before Denim`
  }
  const reading = readBaseTime(transactions, parent.number + 1)
  if (reading.kind === 'malformed') return reading.reason
  const { millisPart } = reading
  if (!isActive(schedule, 'denim', parent.timestamp))
    return millisPart === 0 ? undefined : `invalid first Denim BaseTime anchor: expected 0ms, got ${millisPart}ms`
  const expectedMs = parent.timestamp * 1000 + storedMillisPart(session) + denimBlockMs
  const foundMs = timestamp * 1000 + millisPart
  return foundMs === expectedMs ? undefined : `BaseTime scheduled timestamp mismatch: expected ${expectedMs}ms, got ${foundMs}ms`
}

/** Returns why a Denim block is invalid after its transactions ran: its BaseTime deposit failed or left another value. */
export function baseTimeOutcomeRefusal(
  schedule: ForkSchedule,
  session: EvmSession,
  number: number,
  { timestamp, transactions }: Pick<BlockInput, 'timestamp' | 'transactions'>,
  executed: readonly ExecutedTransaction[],
): string | undefined {
  if (!isActive(schedule, 'denim', timestamp)) return undefined
  if (executed[baseTimeIndex]?.receipt.succeeded !== true) return 'the BaseTime metadata deposit failed'
  const reading = readBaseTime(transactions, number)
  if (reading.kind === 'malformed') return reading.reason
  const stored = storedMillisPart(session)
  return stored === reading.millisPart ? undefined : `BaseTime holds ${stored}ms, ${reading.millisPart}ms expected`
}
