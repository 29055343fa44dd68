import fc from 'fast-check'
import { expect, it } from 'vitest'
import { account, topic } from '#test/harness/rpc/fakes'
import { LogMatcher } from '#types/logMatcher'
import { ByteWriter } from '../results/byteList.ts'
import { type LocatedLog, logText } from '../results/log.ts'
import { KeptLogs, logTerms } from './keptLogs.ts'

const block = { hash: topic(1), number: 1, timestamp: 1 } // the block hash is also a topic
const small = fc.integer({ min: 1, max: 3 })
const topics = fc.array(small.map(topic), { maxLength: 4 })
const log = fc.record({ address: small.map(account), topics, data: fc.uint8Array({ maxLength: 70 }) })
const alternatives = fc.array(small, { maxLength: 2 })
const filter = fc.record({
  addresses: alternatives.map((values) => values.map(account)),
  topics: fc.array(
    alternatives.map((values) => values.map(topic)),
    { maxLength: 4 },
  ),
})

const placedOf = (logs: readonly LocatedLog['log'][]): readonly LocatedLog[] =>
  logs.map((each, logIndex) => ({ log: each, block, transactionHash: topic(2), transactionIndex: 0, logIndex }))

it('rpc/cache/keptLogs: finds the same logs in the text as the log matcher does', () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 30 }), filter, (logs, wanted) => {
      const kept = new KeptLogs(placedOf(logs))
      const matcher = new LogMatcher(wanted)
      const expected = placedOf(logs).filter((each) => matcher.matches(each.log))
      const writer = new ByteWriter()
      kept.writeTo(writer, kept.matching(logTerms(wanted)))
      expect(String(writer.finish())).toBe(expected.map(logText).join(','))
    }),
    { numRuns: 500 },
  )
})

it('rpc/cache/keptLogs: does not mistake text after the last topic for a topic', () => {
  const nested = Buffer.from(topic(3).slice(2), 'hex')
  const logs = placedOf([{ address: account(1), topics: [topic(1)], data: Buffer.concat([nested, nested, nested]) }])
  const kept = new KeptLogs(logs)
  for (let depth = 1; depth < 8; depth++) {
    for (const value of [1, 2, 3]) {
      const wanted = { addresses: [], topics: [...Array.from({ length: depth }, () => []), [topic(value)]] }
      expect([...kept.matching(logTerms(wanted))]).toEqual([])
    }
  }
})
