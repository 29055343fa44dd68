// Cost of a block of plain transfers: executed with its receipts, roots and hashes, senders known, as builder and verifiers do.

import { beginBuild, buildBlock } from '#block/building/buildBlock'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { createSenders } from '#block/execution/senders'
import { configOfGenesis } from '#block/executionConfig'
import { genesisBlock } from '#block/genesisBlock'
import { l1BlockAddress } from '#chainspec/addresses'
import { createWasmEvm } from '#evm/wasmEvm'
import { genesisState } from '#state/genesisState'
import { accountOf, attributesAt, scheduleTo, signedBy, smallGenesis } from '#test/harness/chain/blocks'
import { candidateOf } from '#test/harness/chain/buildPool'
import { testAccount } from '#test/harness/evm/sessions'
import { parseHash } from '#types/ids'
import { type Row, row } from './format.ts'

const transfers = 2_000
const rounds = 25

const slot = (index: number): ReturnType<typeof parseHash> => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
/** L1Block with a live chain's slots and without code: prices and scalars do not change. */
const l1Block = testAccount(l1BlockAddress, {
  nonce: 1n,
  storage: new Map([
    [slot(1), 1_000_000_000n],
    [slot(3), (1_368n << 96n) | (810_949n << 64n)],
    [slot(7), 1n],
    [slot(8), 400n << 96n],
  ]),
})

type Laps = { readonly takenMs: number; readonly sealedMs: number }
type TransferChain = {
  /** One block of forced transfers. */
  readonly execute: () => ExecutedBlock
  /** Times of the same transfers from a pool, for its two parts. */
  readonly build: () => Laps
}

/** A chain of `transfers` rich accounts and a block in which each pays the next. */
export function chainOf(): TransferChain {
  const schedule = scheduleTo('jovian')
  const names = Array.from({ length: transfers }, (_, i) => `account ${i}`)
  const rich = names.map((name) => testAccount(accountOf(name), { balance: 10n ** 18n }))
  const genesis = smallGenesis(schedule, [...rich, l1Block])
  const config = configOfGenesis(genesis)
  const { header, hash } = genesisBlock(genesis, schedule)
  const { state } = genesisState(genesis.accounts)
  const raws = names.map((name, i) => signedBy(name, { to: accountOf(`account ${(i + 1) % transfers}`), value: 1_000n + BigInt(i) }))
  const deps = { evm: createWasmEvm(), config, senders: createSenders({ maxBytes: 32 * 2 ** 20 }) }
  const on = { header, hash, state }
  const attributes = { ...attributesAt(schedule, 1), gasLimit: 120_000_000n }
  const candidates = raws.map(candidateOf)
  return {
    execute() {
      const result = buildBlock(deps, on, { ...attributes, transactions: [...attributes.transactions, ...raws] })
      if (result.kind === 'invalid') throw new Error(result.reason)
      return result.block
    },
    build() {
      const begun = beginBuild(deps, on, attributes)
      if (begun.kind === 'invalid') throw new Error(begun.reason)
      const rest = candidates.values()
      const startMs = performance.now()
      const taken = begun.build.takeFrom(on, { next: () => rest.next().value, skip: () => {} }, {}, () => false)
      const takenMs = performance.now() - startMs
      const { transactions } = begun.build.seal(on)
      if (taken !== 'dry' || transactions.length !== transfers + 1) throw new Error(`${transactions.length} transactions`)
      return { takenMs, sealedMs: performance.now() - startMs - takenMs }
    },
  }
}

export async function run(): Promise<readonly Row[]> {
  const { execute, build } = chainOf()
  for (let warm = 0; warm < 5; warm++) {
    execute()
    build()
  }
  const runs = { wall: [] as number[], cpu: [] as number[], taken: [] as number[], sealed: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const [startMs, start] = [performance.now(), process.cpuUsage()]
    execute()
    const { user, system } = process.cpuUsage(start)
    runs.wall.push((transfers * 1_000) / (performance.now() - startMs))
    runs.cpu.push((transfers * 1_000_000) / (user + system))
    const { takenMs, sealedMs } = build()
    runs.taken.push((transfers * 1_000) / takenMs)
    runs.sealed.push(1_000 / sealedMs)
  }
  return [
    row(`plain transfers executed a second, blocks of ${transfers}`, 'transfers/s', runs.wall),
    row(`plain transfers executed in a second of one core, blocks of ${transfers}`, 'transfers/s', runs.cpu),
    row('plain transfers taken from a pool a second', 'transfers/s', runs.taken),
    row(`blocks of ${transfers} transfers sealed a second`, 'blocks/s', runs.sealed),
  ]
}
