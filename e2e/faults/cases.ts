import { headerOfPayload } from '#engine/payloadHeader'
import type { ProxyMode, TcpProxy } from '#test/harness/process/proxy'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { eventually, type NodeProcess } from '../nodeProcess.ts'
import type { World } from './world.ts'

/** One fault, from its beginning to the end of its cause. */
export type FaultCase = {
  readonly name: string
  /** the fault needs a second node */
  readonly needsB: boolean
  readonly begin: (world: World) => Promise<void> | void
  /** L1 blocks during the fault */
  readonly l1Blocks: number
  /** The node that must report that it is not ready, and the reason. */
  readonly unready?: { readonly node: (world: World) => NodeProcess; readonly why: RegExp }
  /** All nodes stay ready during the fault. */
  readonly staysReady?: true
  /** Minimal duration, in milliseconds. */
  readonly holdMs: number
  readonly end: (world: World) => Promise<void> | void
}

const nothing = (): void => {}
const a = (world: World): NodeProcess => world.a
const bConsensus = (world: World): NodeProcess => world.b.consensus

const proxied = (
  name: string,
  needsB: boolean,
  proxy: (world: World) => TcpProxy,
  mode: ProxyMode,
  unready?: FaultCase['unready'],
): FaultCase => ({
  name,
  needsB,
  begin: (world) => proxy(world).setMode(mode),
  l1Blocks: 4,
  ...(unready && { unready }),
  holdMs: 2_000,
  end: async (world) => {
    proxy(world).setMode({ kind: 'pass' })
    await world.reveal(3)
  },
})

const killed = (
  name: string,
  needsB: boolean,
  victims: (world: World) => readonly NodeProcess[],
  unready?: FaultCase['unready'],
): FaultCase => ({
  name,
  needsB,
  begin: async (world) => void (await Promise.all(victims(world).map((node) => node.kill()))),
  l1Blocks: 3,
  ...(unready && { unready }),
  holdMs: 3_000,
  end: async (world) => {
    for (const node of victims(world)) node.spawn()
    await Promise.all(victims(world).map((node) => node.up()))
  },
})

/** A block of the chain with the last digit of its last transaction changed. */
function withWrongTransaction(payload: Payload): Payload {
  const transactions = payload.transactions.map((raw) => Uint8Array.from(raw))
  const last = transactions.at(-1)
  if (last) last[last.length - 1] = (last.at(-1) ?? 0) ^ 1
  return { ...payload, transactions }
}

const payloadAt = (world: World, number: number): Payload => {
  const payload = world.chain.blocks[number]
  if (payload === undefined) throw new Error(`the chain has no block ${number}`)
  return payload
}

/** Returns the result of the offer, or the text of its error. */
async function offer(world: World, to: NodeProcess, payload: Payload): Promise<string> {
  return world.postUnsafe(to, payload).then(
    (answer) => `answered ${JSON.stringify(answer)}`,
    (error: unknown) => String(error),
  )
}

const offered = (name: string, toB: boolean, make: (world: World) => Payload): FaultCase => ({
  name,
  needsB: true,
  begin: async (world) => {
    const said = await offer(world, toB ? world.b.consensus : world.a, make(world))
    process.stderr.write(`  ${name}: ${said}\n`)
  },
  l1Blocks: 0,
  staysReady: true,
  holdMs: 3_000,
  end: (world) => world.reveal(3),
})

/** A's unsafe head is ahead of L1 by some blocks; B has them too; L1 confirms them later. */
const unsafeAhead: FaultCase = {
  name: 'unsafe ahead of L1',
  needsB: true,
  begin: async (world) => {
    const first = world.nextUnsafe
    for (let number = first; number < first + 6; number++) await world.postUnsafe(world.a, payloadAt(world, number))
    const last = payloadAt(world, first + 5).blockHash
    for (const node of [world.a, world.b.execution]) {
      await eventually(`${node.name} has the unsafe head`, 10_000, async () => {
        const { hash } = (await node.rpc('http', 'eth_getBlockByNumber', ['latest', false])) as { hash: string }
        return hash === last || `it is ${hash}`
      })
    }
  },
  l1Blocks: 6,
  holdMs: 1_000,
  end: async (world) => {
    while (world.nextUnsafe <= Math.max(...world.watches.map(({ head }) => head))) await world.reveal(1)
  },
}

const clockJump = (name: string, offsetMs: number): FaultCase => ({
  name,
  needsB: false,
  begin: (world) => world.setClock(offsetMs),
  l1Blocks: 3,
  staysReady: true,
  holdMs: 5_000,
  end: (world) => world.setClock(0),
})

function engineProxy({ b }: World): TcpProxy {
  const proxy = b.execution.proxies.engine
  if (proxy === undefined) throw new Error('no proxy before the Engine API')
  return proxy
}

/** Returns the block with the hash of its changed fields. */
function hashedAnew(world: World, payload: Payload): Payload {
  return { ...payload, blockHash: hashHeader(headerOfPayload(world.chain.config.schedule, payload)) }
}

const hourMs = 3_600_000
/** L1 blocks until a block that was finalized too early is finalized correctly: finalized never moves back. */
const finalityBlocks = 6
const l1Silent = { node: a, why: /L1/ }
const noBlobs = { node: a, why: /blob/i }
const sourceSilent = { node: bConsensus, why: /source|follow/i }
const noEngine = { node: bConsensus, why: /execution|engine/i }

/** Faults of L1 and of the clock. */
const outside: readonly FaultCase[] = [
  proxied('beacon gone', false, ({ l1 }) => l1.beacon, { kind: 'cut' }, noBlobs),
  proxied('L1 cut', false, ({ l1 }) => l1.rpc, { kind: 'cut' }, l1Silent),
  proxied('L1 silent', false, ({ l1 }) => l1.rpc, { kind: 'stall' }, l1Silent),
  proxied('L1 garbled', false, ({ l1 }) => l1.rpc, { kind: 'garble' }, l1Silent),
  {
    name: 'L1 stops at one block',
    needsB: false,
    begin: nothing,
    l1Blocks: 0,
    staysReady: true,
    holdMs: 20_000,
    end: (world) => world.reveal(3),
  },
  {
    name: 'L1 says finalized above safe',
    needsB: false,
    begin: ({ l1 }) => l1.lie('finalized-above-safe'),
    l1Blocks: 3,
    staysReady: true,
    holdMs: 3_000,
    end: async (world) => {
      world.l1.lie('none')
      await world.reveal(finalityBlocks)
    },
  },
  clockJump('clock an hour ahead', hourMs),
  clockJump('clock an hour back', -hourMs),
]

/** Faults of ended processes and offered blocks. */
const inside: readonly FaultCase[] = [
  killed('A killed', false, (world) => [world.a]),
  killed('A gone for long', true, (world) => [world.a], sourceSilent),
  killed('consensus half of B killed', true, (world) => [world.b.consensus]),
  killed('execution half of B killed', true, (world) => [world.b.execution], noEngine),
  killed('both halves of B killed', true, (world) => [world.b.consensus, world.b.execution]),
  unsafeAhead,
  offered('unsafe block with a wrong hash, to A', false, (world) => withWrongTransaction(payloadAt(world, world.nextUnsafe))),
  offered('INVALID unsafe block, to A', false, (world) => hashedAnew(world, withWrongTransaction(payloadAt(world, world.nextUnsafe)))),
  offered('INVALID unsafe block, to B', true, (world) => hashedAnew(world, withWrongTransaction(payloadAt(world, world.nextUnsafe)))),
  offered('gap: a block far ahead, to A', false, (world) => payloadAt(world, world.nextUnsafe + 12)),
  offered('gap: a block far ahead, to B', true, (world) => payloadAt(world, world.nextUnsafe + 12)),
  {
    name: 'source says finalized above safe',
    needsB: true,
    begin: (world) => world.lieToB('finalized-above-safe'),
    l1Blocks: 3,
    staysReady: true,
    holdMs: 3_000,
    end: async (world) => {
      world.lieToB('none')
      await world.reveal(finalityBlocks)
    },
  },
]

/** Faults of the connections between the parts. */
const between: readonly FaultCase[] = [
  proxied('source cut', true, ({ link }) => link, { kind: 'cut' }, sourceSilent),
  proxied('source silent', true, ({ link }) => link, { kind: 'stall' }, sourceSilent),
  proxied('source slow', true, ({ link }) => link, { kind: 'slow', bytesPerSec: 20_000 }),
  proxied('source garbled', true, ({ link }) => link, { kind: 'garble' }, sourceSilent),
  proxied('source cuts answers short', true, ({ link }) => link, { kind: 'truncate' }, sourceSilent),
  proxied('halves of B cut', true, engineProxy, { kind: 'cut' }, noEngine),
  proxied('halves of B silent', true, engineProxy, { kind: 'stall' }, noEngine),
]

/** The faults of a node, in groups with their own chain: each fault needs some of its blocks. */
export const faultGroups: readonly (readonly FaultCase[])[] = [outside, inside, between]
