import { expect, it } from 'vitest'
import { type RecordedChainName, readRecordedChain, recordedChains } from '#devnet/recordedChain'
import { LogMatcher, type WantedLogs } from './logMatcher.ts'
import { decodeReceipt } from './receipt.ts'

const names = Object.keys(recordedChains) as RecordedChainName[]
const recorded = names.flatMap((name) => readRecordedChain(name).blocks.flatMap(({ receipts }) => receipts))
const receipts = recorded.map(decodeReceipt)
const logs = receipts.flatMap((receipt) => receipt.logs)
const sample = Array.from({ length: 12 }, (_, i) => logs[Math.floor((i * logs.length) / 12)] ?? []).flat()

/** Filters with values of recorded logs and with values that no recorded log has. */
const wishes: readonly WantedLogs[] = [
  { addresses: [], topics: [] },
  ...sample.flatMap(({ address, topics }, at): WantedLogs[] => {
    const other = logs[(at * 7) % logs.length] ?? logs[0]
    return [
      { addresses: [address], topics: topics.map((topic) => [topic]) },
      { addresses: [address, other?.address ?? address], topics: [[], [...(other?.topics ?? []), ...topics]] },
      { addresses: [], topics: [[], [], [], topics.slice(0, 1)] },
      { addresses: [], topics: [topics, []] },
    ]
  }),
]

it('types/logMatcher: finds the same logs in encoded receipts as in the JSON logs of other clients', () => {
  expect(logs.length).toBeGreaterThan(100)
  for (const wanted of wishes) {
    const matcher = new LogMatcher(wanted)
    const found = recorded.flatMap((bytes, receipt) => matcher.decodeFrom(bytes).map((each) => ({ ...each, receipt })))
    const all = receipts.flatMap((each, receipt) => each.logs.map((log, at) => ({ log, at, receipt })))
    expect(found).toEqual(all.filter(({ log }) => matcher.matches(log)))
  }
  const sizes = wishes.map((wanted) => logs.filter((log) => new LogMatcher(wanted).matches(log)).length)
  expect(new Set(sizes).size).toBeGreaterThan(5)
})

it("types/logMatcher: a matching log's receipt bloom is never ruled out", () => {
  for (const wanted of wishes) {
    const matcher = new LogMatcher(wanted)
    for (const { logs: list, logsBloom } of receipts)
      if (list.some((log) => matcher.matches(log))) expect(matcher.mayBeIn(logsBloom)).toBe(true)
  }
})
