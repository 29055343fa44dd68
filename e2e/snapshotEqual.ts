// npm run equal:snapshot -- [--blocks 5000] [--base 200] [--seed 1] [--forks delta,denim] [--ways restored,archive,proofs,anchored] [--workEvery 8]: compares nodes
// that did not execute the blocks up to `base` with one that did, over later blocks with reorgs, destroyed accounts that are made again, and B20 calls (from Beryl
// on). `restored` begins with a minimal snapshot; `archive` and `proofs` with those flavours, whose history and proofs are compared back to genesis; `anchored`
// (from Ecotone on) with the root of the state, and is filled by a step every few blocks. Every 500 blocks all are closed: all rows of the state (accounts, slots,
// codes, trie nodes) are equal, or while the state is partial each stored one, then all start again. Every 25 blocks accounts, codes, slots and proofs of the
// newest states are equal, byte for byte.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import type { Execution } from '#blockchain/execution'
import { isActive } from '#chainspec/forks'
import { chainWith } from '#test/harness/chain/growingChain'
import { places, RandomDeposits } from '#test/harness/chain/randomDeposits'
import { dice } from '#test/harness/dice'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { type OpenChain, openChain } from '../bench/rpc/chains.ts'
import { must } from './crash/tally.ts'
import { finalizedBehind, Growth } from './equal/growth.ts'
import { createdTokens } from './equal/tokens.ts'
import { Anchored, type Follower, Restored, type Way, type WayOptions } from './equal/ways.ts'

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5000' },
    base: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    forks: { type: 'string', default: 'delta,denim' },
    ways: { type: 'string', default: 'restored,archive,proofs,anchored' },
    workEvery: { type: 'string', default: '8' },
  },
})
const [blocks, base, seed, workEvery] = [Number(values.blocks), Number(values.base), Number(values.seed), Number(values.workEvery)]

/** Returns all answers about a state, as text. */
function answers(execution: Execution, block: BlockId, roll: (below: number) => number): string {
  using view = execution.view()
  const state = view.state(block)
  if (state === undefined) throw new Error(`no state of block ${block.number}`)
  const found: unknown[] = []
  for (let i = 0; i < 12; i++) {
    const address = places.addresses[roll(places.addresses.length)] as (typeof places.addresses)[number]
    const slots = Array.from({ length: 4 }, () => places.slots[roll(places.slots.length)] as (typeof places.slots)[number])
    found.push(
      address,
      state.account(address),
      state.code(address),
      slots.map((slot) => state.slot(address, slot)),
      state.prove(address, slots),
    )
  }
  return inspect(found, { depth: null, sorted: true, maxArrayLength: null, maxStringLength: null })
}

/** Grows a chain up to the block with which the other nodes begin, and begins them. */
async function begin(growth: Growth, executed: OpenChain, deposits: RandomDeposits, ways: readonly Way[]): Promise<BlockId> {
  await growth.add(executed, [], 0, [])
  await growth.add(executed, [], 0, deposits.first())
  await growth.add(executed, [], 0, deposits.createTokens())
  deposits.setTokens(createdTokens(executed, growth.chain.at(-1) as Payload))
  while (growth.chain.length <= base + finalizedBehind) await growth.add(executed, [], 3)
  executed.execution.commit()
  const { finalized } = executed.execution.published.heads
  for (const way of ways) await way.begin(executed, growth.chain, finalized)
  return finalized
}

type Session = {
  readonly growth: Growth
  readonly executed: OpenChain
  readonly followers: readonly { readonly name: string; readonly node: Follower }[]
  /** block below which no reorg goes */
  readonly stable: number
}

/** Adds blocks up to a length of the chain, and compares answers every 25 blocks. @returns the number of comparisons */
async function growTo(until: number, { growth, executed, followers, stable }: Session, roll: (below: number) => number): Promise<number> {
  const nodes = followers.map(({ node }) => node)
  let compared = 0
  for (let at = 0; growth.chain.length < until; at++) {
    await growth.add(executed, nodes, stable)
    if (at % workEvery === 0) for (const node of nodes) await node.work()
    if (at % 25 !== 0) continue
    const { blockNumber: number, blockHash: hash } = growth.chain[growth.chain.length - 1 - roll(12)] as Payload
    const turn = roll(2 ** 31)
    const read = (execution: Execution): string => answers(execution, { number, hash }, dice(turn))
    const expected = read(executed.execution)
    for (const { name, node } of followers)
      must((await node.read({ number, hash }, read)) === expected, `answers of block ${number} differ, ${name}`)
    compared++
  }
  return compared
}

/** Returns the ways of a fork. Fetched state needs the rules of Ecotone. */
function waysOf(options: Omit<WayOptions, 'datadir'>, folder: string): readonly Way[] {
  const { schedule, genesis } = options.config
  const canFetch = isActive(schedule, 'ecotone', genesis.l2TimeSec + 1)
  const at = (name: string): WayOptions => ({ ...options, datadir: join(folder, name) })
  const flavours = (['archive', 'proofs'] as const).map((flavour) => new Restored(at(flavour), flavour))
  return [new Restored(at('restored')), ...flavours, new Anchored(at('anchored'))].filter(
    ({ name }) => values.ways.split(',').includes(name) && (canFetch || name !== 'anchored'),
  )
}

async function compare(fork: string, folder: string): Promise<void> {
  const { config, genesis } = chainWith(fork)
  const executedDir = join(folder, 'executed')
  const ways = waysOf({ executedDir, genesis, config }, folder)
  const deposits = new RandomDeposits(seed, fork === 'denim')
  let growth: Growth
  let block: BlockId
  {
    await using executed = await openChain(executedDir, genesis)
    growth = new Growth((await executed.execution.payload(0)) as Payload, deposits, config, seed)
    block = await begin(growth, executed, deposits, ways)
  }
  const roll = dice(seed + 2)
  const start = growth.chain.length
  const last = start + blocks
  let compared = 0
  for (let known = block.number + 1; growth.chain.length < last; known = growth.chain.length) {
    {
      await using parts = new AsyncDisposableStack()
      const executed = parts.use(await openChain(executedDir, genesis))
      const followers = await Promise.all(ways.map(async (way) => ({ name: way.name, node: parts.use(await way.open(executed)) })))
      // blocks between the first one of the other nodes and the head
      for (const payload of growth.chain.slice(known)) for (const { node } of followers) await node.insert(payload)
      const until = Math.min(last, growth.chain.length + 500)
      compared += await growTo(until, { growth, executed, followers, stable: block.number }, roll)
    }
    const rows: string[] = []
    for (const way of ways) rows.push(`${way.name}: ${await way.requireRows(executedDir)}`)
    process.stderr.write(`\r${fork}: ${growth.chain.length - start}/${blocks}, rows equal, ${rows.join(', ')} `)
  }
  const { reorgs, deepest } = growth
  const facts = { from: block.number, blocks: growth.chain.length - start, reorgs, deepest, compared }
  console.log(`\r${fork}: ${JSON.stringify(facts)}, all rows equal: ${ways.map(({ name }) => name).join()}`)
}

const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-equal-'))
// timers of the chains do not keep the process alive
const alive = setInterval(() => {}, 60_000)
for (const fork of values.forks.split(',')) await compare(fork, join(folder, fork))
clearInterval(alive)
rmSync(folder, { recursive: true })
