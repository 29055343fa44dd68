// npm run equal:snapshot -- [--blocks 5000] [--base 200] [--seed 1] [--forks delta,denim]: compares a node that was restored from a snapshot of block `base` with
// a node that executed everything, over later blocks with reorgs, destroyed accounts that are made again, and B20 calls (from Beryl on). Every 500 blocks both are
// closed: all rows of the state (accounts, slots, codes, trie nodes) are equal, then both start again. Every 25 blocks accounts, codes, slots and proofs of
// the newest states are equal, byte for byte.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { l2RefOf } from '#chainspec/l2Ref'
import { systemClock } from '#lib/clock'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import { restoreSnapshot } from '#snapshot/restore/restoreSnapshot'
import { Attributes, chainWith } from '#test/harness/chain/growingChain'
import { places, RandomDeposits } from '#test/harness/chain/randomDeposits'
import { dice } from '#test/harness/dice'
import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { type OpenChain, openChain } from '../bench/rpc/chains.ts'
import { digestOf } from './crash/snapshotRuns.ts'
import { must } from './crash/tally.ts'
import { createdTokens } from './equal/tokens.ts'

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5000' },
    base: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    forks: { type: 'string', default: 'delta,denim' },
  },
})
const [blocks, base, seed] = [Number(values.blocks), Number(values.base), Number(values.seed)]
const depositsOfBlock = 24
const finalizedBehind = 16
const { signal } = new AbortController()

type Grown = { readonly chain: readonly Payload[]; reorgs: number; deepest: number }

/** Adds blocks to a chain and to its followers, with a reorg after every thirtieth on average. */
class Growth implements Grown {
  readonly chain: Payload[]
  reorgs = 0
  deepest = 0
  readonly #deposits: RandomDeposits
  readonly #attributes: Attributes
  readonly #config: ReturnType<typeof chainWith>['config']
  readonly #roll = dice(seed + 1)

  constructor(genesis: Payload, deposits: RandomDeposits, config: ReturnType<typeof chainWith>['config']) {
    this.chain = [genesis]
    this.#deposits = deposits
    this.#config = config
    this.#attributes = new Attributes(config, genesis)
  }

  /** @param stable block below which no reorg goes */
  async add(nodes: readonly OpenChain[], stable: number, transactions = this.#deposits.next(depositsOfBlock)): Promise<void> {
    const tip = this.chain.length - 1
    const depth = this.#roll(30) === 0 ? Math.min(this.#roll(8), tip - Math.max(stable, tip - finalizedBehind + 1)) : 0
    if (depth > 0) {
      this.chain.length -= depth
      this.reorgs++
      this.deepest = Math.max(this.deepest, depth)
    }
    for (let i = 0; i <= depth; i++) await this.#build(nodes, i === 0 ? transactions : this.#deposits.next(depositsOfBlock))
    await this.#setHeads(nodes)
  }

  async #build([first, ...others]: readonly OpenChain[], transactions: readonly Uint8Array[]): Promise<void> {
    const parent = this.chain.at(-1) as Payload
    const attributes = this.#attributes.on(parent.blockHash, transactions)
    const built = await (first as OpenChain).execution.build({ number: parent.blockNumber, hash: parent.blockHash }, attributes)
    if (built.kind === 'invalid') throw new Error(built.reason)
    for (const { execution } of others) {
      const result = execution.insertPayload(built.payload)
      must(result.kind === 'valid', `block ${built.payload.blockNumber} is ${result.kind} for the restored node`)
    }
    this.chain.push(built.payload)
    this.#attributes.built(built.payload)
  }

  async #setHeads(nodes: readonly OpenChain[]): Promise<void> {
    const refOf = (behind: number) => l2RefOf(this.#config, this.chain[Math.max(0, this.chain.length - 1 - behind)] as Payload)
    const heads = { unsafe: refOf(0), safe: refOf(finalizedBehind - 4), finalized: refOf(finalizedBehind) }
    for (const { execution } of nodes) await execution.setHeads(heads)
  }
}

/** All answers about a state, as text. */
function answers({ execution }: OpenChain, block: BlockId, roll: (below: number) => number): string {
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

async function compare(fork: string, folder: string): Promise<void> {
  const { config, genesis } = chainWith(fork)
  const [executedDir, restoredDir, out] = ['executed', 'restored', 'snapshot'].map((name) => join(folder, `${fork}-${name}`)) as [
    string,
    string,
    string,
  ]
  const deposits = new RandomDeposits(seed, fork === 'denim')
  let growth: Growth
  {
    await using executed = await openChain(executedDir, genesis)
    growth = new Growth((await executed.execution.payload(0)) as Payload, deposits, config)
    await growth.add([executed], 0, [])
    await growth.add([executed], 0, deposits.first())
    await growth.add([executed], 0, deposits.createTokens())
    deposits.setTokens(createdTokens(executed, growth.chain.at(-1) as Payload))
    while (growth.chain.length <= base + finalizedBehind) await growth.add([executed], 3)
  }
  const key = generateKeyPairSync('ed25519').privateKey
  const made = await createSnapshot(
    { signal, onProgress: () => {} },
    { chainDir: join(executedDir, 'chain'), out, config, flavour: 'minimal', key, sizes: { leavesOfChunk: 200, inlineSlots: 30 } },
  )
  if (made === undefined) throw new Error('no snapshot')
  const { block } = made.manifest
  const deps = { clock: systemClock, fetch, signal, onProgress: () => {} }
  await restoreSnapshot(deps, { from: out, config, given: block.hash, datadir: restoredDir, command: 'again' })
  let compared = 0
  const roll = dice(seed + 2)
  const start = growth.chain.length
  const last = start + blocks
  let known = block.number + 1
  while (growth.chain.length < last) {
    {
      await using executed = await openChain(executedDir, genesis)
      await using restored = await openChain(restoredDir, genesis)
      // blocks between the snapshot and the head of the other node
      for (const payload of growth.chain.slice(known))
        must(restored.execution.insertPayload(payload).kind === 'valid', 'a later block is invalid')
      const stable = block.number
      const until = Math.min(last, growth.chain.length + 500)
      for (let at = 0; growth.chain.length < until; at++) {
        await growth.add([executed, restored], stable)
        if (at % 25 !== 0) continue
        const { blockNumber: number, blockHash: hash } = growth.chain[growth.chain.length - 1 - roll(12)] as Payload
        const turn = roll(2 ** 31)
        must(
          answers(executed, { number, hash }, dice(turn)) === answers(restored, { number, hash }, dice(turn)),
          `${fork}: answers of block ${number} differ`,
        )
        compared++
      }
      known = growth.chain.length
    }
    const [expected, found] = await Promise.all([digestOf(join(executedDir, 'chain')), digestOf(join(restoredDir, 'chain'))])
    must(expected === found, `${fork}: rows differ at block ${growth.chain.length - 1}`)
    process.stderr.write(`\r${fork}: ${growth.chain.length - start}/${blocks} `)
  }
  const { reorgs, deepest } = growth
  console.log(
    `\r${fork}: ${JSON.stringify({ from: block.number, blocks: growth.chain.length - start, reorgs, deepest, compared })}, all rows equal`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'basalt-snapshot-equal-'))
for (const fork of values.forks.split(',')) await compare(fork, folder)
rmSync(folder, { recursive: true })
