import { fromHex } from '#lib/hex'
import { bloomBits, bloomHas, type Log } from '#types/log'
import type { LogFilter } from '../../codecs/logFilter.ts'

/** Tests a filter on blooms first, then on logs. Hashes the filter's values once. */
export type LogMatcher = { mayBeIn(bloom: Uint8Array): boolean; matches(log: Log): boolean }

/**
 * An empty list of alternatives matches anything, also a topic that the log does not have.
 * @see execution-apis, eth_getLogs: "topics"
 */
export function createLogMatcher(filter: Pick<LogFilter, 'addresses' | 'topics'>): LogMatcher {
  const groups = [filter.addresses, ...filter.topics].filter((alternatives) => alternatives.length > 0)
  const bits = groups.map((alternatives) => alternatives.map((value) => bloomBits(fromHex(value))))
  const addresses = new Set<string>(filter.addresses)
  const topics = filter.topics.map((alternatives) => new Set<string>(alternatives))
  return {
    mayBeIn: (bloom) => bits.every((alternatives) => alternatives.some((each) => bloomHas(bloom, each))),
    matches: (log) =>
      (addresses.size === 0 || addresses.has(log.address)) &&
      topics.every((alternatives, index) => alternatives.size === 0 || alternatives.has(log.topics[index] ?? '')),
  }
}
