import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fakePendingChain } from '#test/harness/flashblocks/pendingFakes'
import { account } from '#test/harness/rpc/fakes'
import { LogMatcher } from '#types/logMatcher'
import { pendingLogsFeed } from './pendingFeeds.ts'

type Told = { readonly address: string; readonly removed: boolean }

/**
 * Events of a chain: a transaction with a number of logs, in the same or the next block; a drop of the newest block from a transaction on;
 * a seal of the oldest block; a new subscriber.
 */
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('grow', 'next'), logs: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop'), first: fc.integer({ min: 0, max: 3 }) }) },
  fc.constant({ kind: 'seal' }),
  { weight: 2, arbitrary: fc.constant({ kind: 'subscribe' }) },
)

/** Logs of pending blocks by block and transaction, and logs of sealed blocks. Each log has its own address. */
class Model {
  readonly fake = fakePendingChain([[]])
  blocks: number[][][] = []
  sealed: number[] = []
  #made = 0

  happen(of: { kind: string; logs?: number; first?: number }): void {
    const last = this.blocks.at(-1)
    if (of.kind === 'seal' && this.blocks.length > 0) {
      this.sealed.push(...(this.blocks.shift() ?? []).flat())
      this.fake.seal()
    } else if (of.kind === 'drop' && last) {
      const first = Math.min(of.first ?? 0, last.length)
      this.blocks.pop()
      this.sealed.push(...last.slice(0, first).flat())
      this.fake.drop(first)
    } else if (of.kind === 'grow' || of.kind === 'next') this.#show(of.kind, of.logs ?? 0)
  }

  #show(kind: 'grow' | 'next', logs: number): void {
    const transaction = Array.from({ length: logs }, () => ++this.#made)
    const last = this.blocks.at(-1)
    const isSame = kind === 'grow' && last !== undefined
    if (!isSame && this.blocks.length >= 3) return
    if (isSame) last.push(transaction)
    else this.blocks.push([transaction])
    const content = (this.blocks.at(-1) ?? []).map((of) =>
      of.map((emitter) => ({ address: account(emitter), topics: [], data: new Uint8Array(0) })),
    )
    this.fake.show(content, isSame ? 'same' : 'next')
  }

  /** Logs that a subscriber from the start should have, without removed ones. */
  get standing(): number[] {
    return [...this.sealed, ...this.blocks.flat(2)].sort((a, b) => a - b)
  }
}

it('rpc/methods/eth/subscriptions/pendingFeeds: a subscriber has exactly the current logs, gets none twice, and none removed that it did not get', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const model = new Model()
      const subscribers: { readonly since: number; readonly told: Told[] }[] = []
      const subscribe = (since: number): void => {
        const told: Told[] = []
        const feed = pendingLogsFeed(model.fake.feed, new LogMatcher({ addresses: [], topics: [] }))
        feed.open((notification) => told.push((JSON.parse(String(notification('0x'))) as { params: { result: Told } }).params.result))
        subscribers.push({ since, told })
      }
      subscribe(0)
      let made = 0
      for (const each of events) {
        if (each.kind === 'subscribe') subscribe(made)
        else model.happen(each)
        made = Math.max(made, ...model.standing, 0)
      }
      for (const { since, told } of subscribers) {
        const standing = new Set<number>()
        for (const { address, removed } of told) {
          expect(standing.has(Number(address))).toBe(removed)
          if (removed) standing.delete(Number(address))
          else standing.add(Number(address))
        }
        expect([...standing].sort((a, b) => a - b)).toEqual(model.standing.filter((log) => log > since))
      }
    }),
    { numRuns: 60 },
  )
})
