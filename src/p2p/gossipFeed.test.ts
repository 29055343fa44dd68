import { expect, it } from 'vitest'
import type { UnsafeOutcome } from '#consensus/ports'
import type { Heads } from '#engine/port'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { blockOf, chainOf, configNow } from '#test/harness/p2p/chain'
import type { AncestorSource } from '#types/ancestorSource'
import type { L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { GossipFeed } from './gossipFeed.ts'

const config = configNow(1_000, 1_700_000_000_000)
const blocks = chainOf(config, 1, 300)
const refOf = ({ blockHash: hash, blockNumber: number, parentHash, timestamp }: Payload): L2Ref => ({
  ...{ hash, number, parentHash, timestamp },
  ...{ l1Origin: { hash, number: 0 }, sequenceNumber: 0 },
})
const at = (number: number): Payload => blocks[number - 1] ?? blockOf(config, number)

/** Inbox of an engine that knows a chain up to a head, and peers that have the blocks of `served`. */
function feedAt(head: number, served: (number: number) => Payload | undefined, ancestors?: AncestorSource) {
  const known = new Set<Hash>([at(head).parentHash, ...blocks.slice(0, head).map(({ blockHash }) => blockHash)])
  let heads: Heads = { unsafe: refOf(at(head)), safe: refOf(at(1)), finalized: refOf(at(1)) }
  const blamed: number[] = []
  const outcomes: string[] = []
  const moved = new Set<() => void>()
  const asked: number[] = []
  const changed = (): void => {
    for (const check of moved) check()
  }
  const clock = createManualClock()
  const feed = new GossipFeed({
    inbox: {
      get heads() {
        return heads
      },
      async insert(payloads): Promise<UnsafeOutcome> {
        const [first] = payloads
        if (first && !known.has(first.parentHash))
          return { kind: 'gap', missing: { hash: first.parentHash, number: first.blockNumber - 1 } }
        for (const payload of payloads) known.add(payload.blockHash)
        const last = payloads.at(-1)
        if (last) heads = { ...heads, unsafe: refOf(last) }
        changed()
        return { kind: 'inserted', head: heads.unsafe }
      },
    },
    clock,
    log: silentLog,
    metrics: {
      ancestors: {
        inc: ({ outcome }) => {
          outcomes.push(outcome)
          changed()
        },
      },
    },
    fetch: async (numbers) => {
      asked.push(...numbers)
      return numbers.map(served)
    },
    blame: (number) => void blamed.push(number),
    ...(ancestors && { ancestors }),
  })
  const stop = new AbortController()
  const running = feed.run(stop.signal)
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (condition()) resolve()
      }
      moved.add(check)
      check()
    })
  return {
    ...{ feed, blamed, outcomes, asked, clock, until },
    head: () => heads.unsafe.number,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}

it('p2p/gossipFeed: a child of the head becomes the head without any request', async () => {
  await using given = feedAt(10, () => undefined)
  given.feed.offer(at(11))
  await given.until(() => given.head() === 11)
  expect(given.asked).toEqual([])
})

it('p2p/gossipFeed: fetches missing ancestors backwards and inserts them oldest first', async () => {
  await using given = feedAt(10, at)
  given.feed.offer(at(250))
  await given.until(() => given.outcomes.length > 0)
  expect([given.head(), given.outcomes, given.blamed]).toEqual([250, ['filled'], []])
  expect([Math.min(...given.asked), Math.max(...given.asked), given.asked.length]).toEqual([11, 249, 239])
})

it('p2p/gossipFeed: uses blocks that arrived before instead of fetching them', async () => {
  await using given = feedAt(10, (number) => (number === 11 ? at(11) : undefined))
  for (const number of [12, 14, 13]) given.feed.offer(at(number))
  await given.until(() => given.head() === 14)
  expect(given.asked).toEqual([11])
})

it('p2p/gossipFeed: a block that arrives again takes no room of other ones', async () => {
  await using given = feedAt(10, (number) => (number === 11 ? at(11) : undefined))
  const large = { ...at(9), transactions: [new Uint8Array(50 * 2 ** 20)] }
  for (const block of [at(12), large, large, large, at(13)]) given.feed.offer(block)
  await given.until(() => given.head() === 13)
  expect(given.asked).toEqual([11])
})

it('p2p/gossipFeed: a block whose ancestors no peer has does not become the head', async () => {
  await using given = feedAt(10, () => undefined)
  given.feed.offer(at(20))
  while (given.outcomes.length === 0) await given.clock.advanceMs(500)
  expect([given.head(), given.outcomes]).toEqual([10, ['unavailable']])
})

it('p2p/gossipFeed: a block of a peer that is not the ancestor by hash is refused, and its peer blamed', async () => {
  await using given = feedAt(10, (number) => blockOf(config, number, undefined, 7))
  given.feed.offer(at(20))
  while (given.outcomes.length === 0) await given.clock.advanceMs(500)
  expect([given.head(), given.outcomes, given.blamed]).toEqual([10, ['wrong'], [19, 19, 19]])
})

it('p2p/gossipFeed: a wrong block, and one that no peer returns at first, cost an attempt; the blocks around them are kept', async () => {
  const isFirst = new Set([12, 17])
  await using given = feedAt(10, (number) => {
    if (!isFirst.delete(number)) return at(number)
    return number === 17 ? blockOf(config, number, undefined, 7) : undefined
  })
  given.feed.offer(at(20))
  while (given.outcomes.length === 0) await given.clock.advanceMs(500)
  expect([given.head(), given.outcomes, given.blamed]).toEqual([20, ['filled'], [17]])
  expect(given.asked.toSorted((a, b) => a - b)).toEqual([11, 12, 12, 13, 14, 15, 16, 17, 17, 18, 19])
})

it('p2p/gossipFeed: an older block of another branch does not move the head back; a higher one moves it to the branch', async () => {
  const branch = [blockOf(config, 8, at(7).blockHash, 1)]
  for (let number = 9; number <= 12; number++) branch.push(blockOf(config, number, branch.at(-1)?.blockHash, 1))
  await using given = feedAt(10, (number) => branch.find(({ blockNumber }) => blockNumber === number) ?? at(number))
  const [first, , , , last] = branch
  if (first === undefined || last === undefined) throw new Error('no branch')
  given.feed.offer(first)
  given.feed.offer(last)
  await given.until(() => given.head() === 12)
})

it('p2p/gossipFeed: a gap above the bound is left to L1', async () => {
  await using given = feedAt(10, at)
  given.feed.offer(blockOf(config, 10_000))
  await given.until(() => given.outcomes.length > 0)
  expect([given.head(), given.outcomes, given.asked]).toEqual([10, ['too_far'], []])
})

it('p2p/gossipFeed: fills a large gap by hash first, and a small one when peers of gossip lack its blocks', async () => {
  const requested: unknown[] = []
  const source = {
    count: 1,
    async *ancestors({ blockNumber, parentHash }: Pick<Payload, 'blockNumber' | 'parentHash'>, floor: number, lowest: number) {
      requested.push([blockNumber, parentHash, floor, lowest])
      for (let from = floor; from < blockNumber - 1; from += 100) yield blocks.slice(from, Math.min(from + 100, blockNumber - 1))
    },
  }
  for (const [newest, served] of [
    [290, at],
    [20, () => undefined],
  ] as const) {
    await using given = feedAt(10, served, source)
    given.feed.offer(at(newest))
    while (given.outcomes.length === 0) await given.clock.advanceMs(500)
    expect([given.head(), given.outcomes]).toEqual([newest, ['filled_by_hash']])
    expect(requested.pop()).toEqual([newest, at(newest).parentHash, 10, 1])
    expect(given.asked.length > 0).toBe(newest === 20)
  }
})

/** Blocks of another branch from number 2 up, one above the chain. */
function longBranch(txBytes: number): readonly Payload[] {
  const transactions = [new Uint8Array(txBytes)]
  const branch: Payload[] = []
  for (let number = 2; number <= 301; number++) {
    branch.push({ ...blockOf(config, number, branch.at(-1)?.blockHash ?? at(1).blockHash, 1), transactions })
  }
  return branch
}

it('p2p/gossipFeed: all fetched blocks of another branch count against the bound', async () => {
  const mebibyte = 2 ** 20
  for (const [txBytes, head, outcome] of [
    [0.499 * mebibyte, 300, 'too_far'],
    [0.4 * mebibyte, 301, undefined],
  ] as const) {
    const branch = longBranch(Math.floor(txBytes))
    await using given = feedAt(300, (number) => branch[number - 2])
    given.feed.offer(branch.at(-1) ?? expect.fail())
    await given.until(() => given.outcomes.length > 0 || given.head() === 301)
    expect([given.head(), given.outcomes[0], given.asked.length]).toEqual([head, outcome, 299])
  }
})

it('p2p/gossipFeed: fetches a deep branch by hash when its last 256 blocks are above the fork', async () => {
  const branch = longBranch(0)
  const source = {
    count: 1,
    async *ancestors() {
      yield branch.slice(0, -1)
    },
  }
  await using given = feedAt(300, (number) => branch[number - 2], source)
  given.feed.offer(branch.at(-1) ?? expect.fail())
  await given.until(() => given.outcomes.length > 0)
  expect([given.head(), given.outcomes, given.asked.length]).toEqual([301, ['filled_by_hash'], 256])
})

it('p2p/gossipFeed: fetches by number when execution peers lack the blocks, or fail', async () => {
  const empty = async function* (): AsyncGenerator<readonly Payload[]> {}
  // biome-ignore lint/correctness/useYield: fails at once
  const failing = async function* (): AsyncGenerator<readonly Payload[]> {
    throw new Error('the thread has ended')
  }
  for (const ancestors of [empty, failing]) {
    await using given = feedAt(10, at, { count: 1, ancestors })
    given.feed.offer(at(290))
    await given.until(() => given.outcomes.length > 0)
    expect([given.head(), given.outcomes]).toEqual([290, ['filled']])
  }
})
