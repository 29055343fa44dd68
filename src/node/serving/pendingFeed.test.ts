import { expect, it } from 'vitest'

import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { PendingNews } from '#rpc/pendingPorts'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import type { ExecutedTransaction } from '#types/executedTransaction'
import type { PendingBlock } from '#types/pendingBlock'
import { createPendingFeed, pendingChanges } from './pendingFeed.ts'

const { config } = smallChain(scheduleTo('jovian'))
const extraData = new Uint8Array(0)
const executed = (names: string): ExecutedTransaction[] => [...names].map((hash) => ({ hash, sender: '0x', gasUsed: 1n }) as never)
const headerOf = (number: number, parent: string, timestamp: number) => ({ number, parentHash: parent, timestamp, extraData })

/** A block of transactions named by letters. */
const pending = (number: number, names: string, { payloadId = `p${number}`, index = 0, parent = `c${number - 1}` } = {}): PendingBlock =>
  ({ number, payloadId, index, id: `${payloadId}/${index}`, header: headerOf(number, parent, number), executed: executed(names) }) as never
const sealed = (number: number, names: string, timestamp = number) =>
  ({ hash: `c${number}`, header: headerOf(number, `c${number - 1}`, timestamp), executed: executed(names) }) as never
const record = (unsafe: number, overlays: readonly never[], ...blocks: readonly PendingBlock[]): HeadRecord =>
  ({
    heads: { unsafe: { number: unsafe } },
    base: { number: 0 },
    overlays,
    ...(blocks.length > 0 && { pending: { blocks, freshUntilMs: 0 } }),
  }) as never

/** Formats changes briefly: kind, block, index of the first transaction. */
const short = (before: HeadRecord, now: HeadRecord): string[] =>
  pendingChanges(before, now).map((change) => {
    const { number, index } = change.pending
    if (change.kind === 'flashblock') return `+${number}/${index} from ${change.firstNew}`
    return `-${number}/${index} from ${change.first}${change.replacedBy ? ` by ${change.replacedBy}` : ''}`
  })

const one = pending(1, 'ab')
const grown = pending(1, 'abc', { index: 1 })
const two = pending(2, 'de')
const none = record(0, [])

it.each([
  ['a block begins', none, record(0, [], one), ['+1/0 from 0']],
  ['it grows', record(0, [], one), record(0, [], grown), ['+1/1 from 2']],
  ['a flashblock is empty', record(0, [], grown), record(0, [], pending(1, 'abc', { index: 2 })), ['+1/2 from 3']],
  ['the next begins on it', record(0, [], grown), record(0, [], grown, two), ['+2/0 from 0']],
  ['nothing changes', record(0, [], grown, two), record(0, [], grown, two), []],
  ['it is sealed unchanged', record(0, [], grown, two), record(1, [sealed(1, 'abc')], two), []],
  ['it is sealed with more', record(0, [], one), record(1, [sealed(1, 'abc')]), []],
  ['it is sealed with less', record(0, [], grown), record(1, [sealed(1, 'ab')]), ['-1/1 from 2 by c1']],
  ['it is sealed in another order', record(0, [], grown), record(1, [sealed(1, 'acb')]), ['-1/1 from 1 by c1']],
  ['it is sealed with another time', record(0, [], grown), record(1, [sealed(1, 'abc', 9)]), ['-1/1 from 0 by c1']],
  ['another is sealed below two', record(0, [], grown, two), record(1, [sealed(1, 'xy')]), ['-2/0 from 0', '-1/1 from 0 by c1']],
  ['two are sealed at once', record(0, [], grown, two), record(2, [sealed(1, 'abc'), sealed(2, 'dx')]), ['-2/0 from 1 by c2']],
  ['all is dropped', record(0, [], grown, two), none, ['-2/0 from 0', '-1/1 from 0']],
  [
    'another build takes its place',
    record(0, [], grown, two),
    record(0, [], pending(1, 'ab', { payloadId: 'q' })),
    ['-2/0 from 0', '-1/1 from 0', '+1/0 from 0'],
  ],
])('node/serving/pendingFeed: %s', (_what, before, now, changes) => {
  expect(short(before, now)).toEqual(changes)
})

it('node/serving/pendingFeed: notifies subscribers of the changes of each record, until they unsubscribe', () => {
  const feed = createPendingFeed(config)
  const heard: string[] = []
  const subscription = feed.subscribe((news: readonly PendingNews[]) =>
    heard.push(...news.map(({ kind, pending: { index } }) => `${kind} ${index}`)),
  )
  for (const next of [record(0, [], one), record(0, [], grown), none]) feed.publish(next)
  subscription[Symbol.dispose]()
  feed.publish(record(0, [], one))
  expect(heard).toEqual(['flashblock 1', 'dropped 1'])
})
