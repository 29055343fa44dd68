import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { afterEach, expect, it, vi } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { latestState, latestStateRoot, writeGenesis, writeState } from '#state/chainState'
import type { RootThreads } from '#state/rootParts'
import { computeStateRoot } from '#state/stateRoot'
import { push, type StateStack, stackedState } from '#state/stateStack'
import type { WorldState } from '#state/worldState'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { noNodes } from '#trie/ports'
import { plainTries, Tries, type UpdatedState } from '#trie/tries'
import { emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import { createStateDiff } from '#types/stateDiffTable'
import { RootClaims } from './rootClaims.ts'
import { type RootLink, type RootMessage, RootQueue } from './rootLink.ts'
import { RootServer } from './rootServer.ts'
import { LinkedRootThreads } from './rootThreads.ts'

const accounts = 40
const keyOf = (n: number): Uint8Array => keccak256(Uint8Array.of(n >> 8, n & 255))
const plainAccount = { nonce: 1n, balance: 1n, codeHash: emptyCodeHash }
const slotsOf = (count: number, value: bigint): StateDiff =>
  createStateDiff({
    accounts: [],
    slots: Array.from({ length: count }, (_, n) => ({
      addressKey: keyOf(n % accounts),
      slotKey: keyOf(n),
      value: bytesFromBigint(value, 32),
    })),
    codes: [],
  })
const minRows = 256
/** A diff that is computed in parts. */
const large = slotsOf(800, 9n)

const base = createMemoryKv()
{
  const diff = createStateDiff({
    accounts: Array.from({ length: accounts }, (_, n) => ({ key: keyOf(n), change: plainAccount, wiped: false })),
    slots: [],
    codes: [],
  })
  base.write((tx) => writeGenesis(tx, diff, computeStateRoot(noNodes, emptyRoot, diff)))
}

/** Writes a block on the state of a store. */
function write(kv: Kv, number: number, diff: StateDiff): void {
  kv.write((tx) => {
    writeState(tx, number, diff, computeStateRoot(latestState(tx, () => undefined).nodes, latestStateRoot(tx), diff))
  })
}

/** A store with the base state and more blocks. */
function storeWith(...blocks: readonly StateDiff[]): Kv {
  const kv = createMemoryKv()
  const reader = base.snapshot()
  kv.write((tx) => {
    for (const { id } of Object.values(tables)) for (const { key, value } of reader.range(id, {})) tx.put(id, key, value)
  })
  for (const [i, diff] of blocks.entries()) write(kv, i + 1, diff)
  return kv
}

const open: MessagePort[] = []
const onFailed = vi.fn<(error: unknown) => void>()
afterEach(() => {
  onFailed.mockClear()
  for (const port of open.splice(0)) port.close()
})

function link(): { execution: RootLink; thread: RootLink } {
  const { port1, port2 } = new MessageChannel()
  const queue = RootQueue.create()
  open.push(port1, port2)
  return { execution: { port: port1, queue }, thread: { port: port2, queue } }
}

/** Threads of which one does its work in this thread, between the offer and the first claim. */
function served(kv: Kv): { threads: RootThreads; free: () => number; queue: RootQueue } {
  const { execution, thread } = link()
  const server = new RootServer(thread, () => kv, onFailed)
  const threads = new LinkedRootThreads([execution], minRows)
  let free = -1
  return {
    threads: {
      minRows,
      offer(work) {
        const shared = threads.offer(work)
        server.serve()
        free = 0
        return (
          shared && {
            claim(part) {
              const isOwn = shared.claim(part)
              if (isOwn) free++
              return isOwn
            },
            result: (part) => shared.result(part),
            [Symbol.dispose]: () => shared[Symbol.dispose](),
          }
        )
      },
    },
    free: () => free,
    queue: new RootQueue(thread.queue),
  }
}

const comparable = ({ root, nodes, storageRoots }: UpdatedState) => ({
  root,
  nodes: [...nodes].map(({ owner, path, node }) => JSON.stringify([owner && [...owner], [...path], node && [...node]])).sort(),
  storageRoots: [...storageRoots],
})

/** The state of a store and blocks above it that are not committed. */
function stateOf(kv: Kv, ...blocks: readonly StateDiff[]): { state: WorldState; root: Hash } {
  const reader = kv.snapshot()
  const below = latestState(reader, () => undefined)
  let stack: StateStack = []
  let [state, root] = [below, latestStateRoot(reader)]
  for (const [i, diff] of blocks.entries()) {
    const result = computeStateRoot(state.nodes, root, diff)
    stack = push(stack, { diff, result, block: { number: i + 1, hash: result.root } })
    ;[state, root] = [stackedState(below, stack), result.root]
  }
  return { state, root }
}

it('executionThread/roots/rootThreads: a thread computes all parts, on the committed state and on blocks above it', () => {
  const blocks = Array.from({ length: 11 }, (_, n) => slotsOf(30 + 7 * n, BigInt(n + 1)))
  for (const above of [[], blocks.slice(0, 1), blocks]) {
    const { state, root } = stateOf(base, ...above)
    const alone = computeStateRoot(state.nodes, root, large)
    for (const claim of [undefined, alone.root]) {
      const { threads, free, queue } = served(base)
      expect(comparable(computeStateRoot(state.nodes, root, large, plainTries(), claim, threads))).toEqual(comparable(alone))
      expect(free()).toBe(0)
      expect(queue.parts).toBe(new Set(Array.from({ length: accounts }, (_, n) => (keyOf(n)[0] ?? 0) >> 4)).size)
    }
  }
})

it('executionThread/roots/rootThreads: a thread may read a newer committed state of the same chain', () => {
  const blocks = [slotsOf(40, 1n), slotsOf(90, 2n), slotsOf(140, 3n)]
  const { state, root } = stateOf(base, ...blocks)
  const alone = computeStateRoot(state.nodes, root, large)
  const { threads, free } = served(storeWith(...blocks.slice(0, 2)))
  expect(comparable(computeStateRoot(state.nodes, root, large, plainTries(), undefined, threads))).toEqual(comparable(alone))
  expect(free()).toBe(0)
})

it('executionThread/roots/rootThreads: the root is right while the thread reads another branch, an empty store, or a store that fails', () => {
  const { state, root } = stateOf(base, slotsOf(40, 1n))
  const alone = computeStateRoot(state.nodes, root, large)
  const broken: Kv = Object.assign(createMemoryKv(), {
    snapshot(): never {
      throw new Error('disk')
    },
  })
  for (const kv of [storeWith(slotsOf(800, 77n)), createMemoryKv(), broken]) {
    const { threads } = served(kv)
    for (const claim of [undefined, alone.root, root])
      expect(comparable(computeStateRoot(state.nodes, root, large, plainTries(), claim, threads))).toEqual(comparable(alone))
  }
  // a thread whose store fails takes no more work
  expect(onFailed.mock.calls).toEqual([[expect.objectContaining({ message: 'disk' })]])
})

it('executionThread/roots/rootThreads: no node is missing when the thread reads a sibling with the same keys and some of the same values', () => {
  // each part has several accounts
  const many = 200
  const accountsOnly = {
    accounts: Array.from({ length: many }, (_, n) => ({ key: keyOf(n), change: plainAccount, wiped: false })),
    slots: [],
    codes: [],
  }
  const slotsBy = (value: (account: number) => bigint): StateDiff => {
    const slots = Array.from({ length: 800 }, (_, n) => [n % many, keyOf(n)] as const)
    return createStateDiff({
      accounts: [],
      slots: slots.map(([account, slotKey]) => ({ addressKey: keyOf(account), slotKey, value: bytesFromBigint(value(account), 32) })),
      codes: [],
    })
  }
  const kv = createMemoryKv()
  const genesis = createStateDiff(accountsOnly)
  kv.write((tx) => writeGenesis(tx, genesis, computeStateRoot(noNodes, emptyRoot, genesis)))
  const before = kv.snapshot()
  const [state, root] = [latestState(before, () => undefined), latestStateRoot(before)]
  write(
    kv,
    1,
    slotsBy((account) => (account < many / 2 ? 9n : 7n)),
  )
  const diff = slotsBy(() => 9n)
  const alone = computeStateRoot(state.nodes, root, diff)
  for (const claim of [undefined, alone.root]) {
    const { threads } = served(kv)
    expect(comparable(computeStateRoot(state.nodes, root, diff, plainTries(), claim, threads))).toEqual(comparable(alone))
  }
})

it('executionThread/roots/rootThreads: offers nothing to a thread that has not begun, has ended its work, or has not taken earlier work', async () => {
  const { state, root } = stateOf(base)
  const { execution, thread } = link()
  const threads = new LinkedRootThreads([execution], minRows)
  let computed = 0
  const compute = (): Hash => {
    computed++
    return computeStateRoot(state.nodes, root, large, plainTries(), undefined, threads).root
  }
  const expected = compute()
  expect(receiveMessageOnPort(thread.port)).toBeUndefined()
  const server = new RootServer(thread, () => base, onFailed)
  const queue = new RootQueue(execution.queue)
  for (const isFree of [true, false, false]) {
    expect(queue.isFree).toBe(isFree)
    expect(compute()).toBe(expected)
  }
  server.serve()
  expect(queue.isFree).toBe(true)
  // the work has ended
  expect(queue.parts).toBe(0)
  server[Symbol.dispose]()
  expect(queue.isFree).toBe(false)
  expect(compute()).toBe(expected)
  expect(computed).toBe(5)
})

/** A thread that answers an offer at once. */
function answering(answer: (message: RootMessage, port: MessagePort) => void): RootThreads {
  const { execution, thread } = link()
  const queue = new RootQueue(thread.queue)
  queue.isOpen = true
  const threads = new LinkedRootThreads([execution], minRows)
  return {
    minRows,
    offer(work) {
      const shared = threads.offer(work)
      const received = receiveMessageOnPort(thread.port)
      queue.taken()
      if (received) answer(received.message as RootMessage, thread.port)
      return shared
    },
  }
}

it('executionThread/roots/rootThreads: waits once for a thread that is late, and computes its parts', () => {
  const { state, root } = stateOf(base)
  const alone = computeStateRoot(state.nodes, root, large)
  const threads = answering(({ claims, parts }) => {
    const taken = new RootClaims(claims)
    for (const part of parts.keys()) taken.claim(part)
  })
  const startMs = performance.now()
  expect(comparable(computeStateRoot(state.nodes, root, large, plainTries(), alone.root, threads))).toEqual(comparable(alone))
  expect(performance.now() - startMs).toBeLessThan(2_000)
})

it('executionThread/roots/rootThreads: drops late answers to earlier work, and parts without an answer', () => {
  const { state, root } = stateOf(base)
  const threads = answering(({ claims, number, parentRoot, parts, layers }, port) => {
    const taken = new RootClaims(claims)
    expect(layers).toEqual([])
    for (const [part, { rows }] of parts.entries()) {
      taken.claim(part)
      const { nodes, ...rest } = new Tries().updateRows(state.nodes, parentRoot, slotsOf(800, 5n), rows, 'nodes')
      port.postMessage({ ...rest, nodes: nodes.buffer, number: number - 1, part })
      taken.end(part, 'done')
    }
  })
  for (const value of [9n, 10n]) {
    const diff = slotsOf(800, value)
    const alone = computeStateRoot(state.nodes, root, diff)
    expect(comparable(computeStateRoot(state.nodes, root, diff, plainTries(), undefined, threads))).toEqual(comparable(alone))
  }
})

it('executionThread/roots/rootThreads: a thread computes no part of work that has ended', () => {
  const { execution, thread } = link()
  const server = new RootServer(thread, () => base, onFailed)
  const threads = new LinkedRootThreads([execution], minRows)
  const { state, root } = stateOf(base)
  computeStateRoot(state.nodes, root, large, plainTries(), undefined, threads)
  server.serve()
  expect(receiveMessageOnPort(execution.port)).toBeUndefined()
})
