import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { genesisBlock } from '#block/genesisBlock'
import { createExecution, type Execution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import type { Genesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Engine, Heads } from '#engine/port'
import { createWasmEvm } from '#evm/wasmEvm'
import { journalDir } from '#executionThread/wire/protocol'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import { openFileJournal } from '#store/fileJournal'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { attributesAt, chainStart, hashOf } from '#test/harness/chain/blocks'
import { encodeDeposit } from '#types/deposit'
import { type Address, parseAddress } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import { type GenesisNote, rollupOf, type World } from './servers.ts'

/** An execution in this process over a data directory. */
export type OpenChain = AsyncDisposable & { readonly execution: Execution; readonly config: ExecutionConfig; readonly kv: Kv }

const unlimited = Number.POSITIVE_INFINITY
/** Commits of many blocks, for a chain that is made in one go: a row that several blocks change is written once for all of them. */
const bulk = { commitSliceMs: unlimited, maxUncommittedMs: unlimited, maxPayloadMs: unlimited, maxTreeBytes: 2 ** 30 }

/** @param config by default that of the genesis; another one names the genesis block of a store that has one already */
export async function openChain(
  datadir: string,
  genesis: () => Genesis,
  config: ExecutionConfig = configOfGenesis(genesis()),
): Promise<OpenChain> {
  await using parts = new AsyncDisposableStack()
  const dir = join(datadir, 'chain')
  const kv = parts.use(openChainKv(dir))
  agreeOnSchema(kv, chainSchema)
  const journal = parts.use(openFileJournal(journalDir(dir), silentLog))
  const deps = { kv, journal, evm: createWasmEvm(), config, genesis, clock: systemClock, log: silentLog }
  const execution = parts.use(createExecution(deps, bulk))
  const kept = parts.move()
  return { execution, config, kv, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

/** An execution that adds blocks, in this process or in another one. */
export type GrowingChain = {
  readonly config: ExecutionConfig
  readonly execution: Pick<Engine, 'build' | 'payload' | 'setHeads'> & { readonly published: { readonly heads: Heads } }
}

/** Builds a block on the unsafe head and makes it the new head. @throws Error when it cannot be built */
export async function addBlock({ execution, config }: GrowingChain, attributes: PayloadAttributes): Promise<Payload> {
  const heads = execution.published.heads
  const built = await execution.build(heads.unsafe, attributes)
  if (built.kind === 'invalid') throw new Error(built.reason)
  await execution.setHeads({ ...heads, unsafe: l2RefOf(config, built.payload) })
  return built.payload
}

/** A user deposit, which has no signature. @param salt of its source hash, different for each deposit */
export function userDeposit(
  salt: string,
  from: Address,
  to: Address,
  data: Uint8Array,
  { mint = 0n, value = 0n, gas = 200_000n } = {},
): Uint8Array {
  return encodeDeposit({
    ...{ type: 0x7e, sourceHash: hashOf(salt), from, to, mint, value, gasLimit: gas, isSystemTransaction: false, data },
  })
}

/** number of contracts of the chain of logs: block n calls contract n modulo this */
export const emitters = 100
export const emitterAt = (index: number): Address => parseAddress(`0x${(0xe0_0000 + index).toString(16).padStart(40, '1')}`)
/** Sends the deposit of each block. */
export const caller: Address = parseAddress(`0x${'ca'.repeat(20)}`)
/** first topics of the three logs of a call */
export const logTopics: readonly string[] = ['aa', 'bb', 'cc'].map((end) => `0x${end.padStart(64, '0')}`)
/** three times: topic 2 is the word of the calldata, topic 1 a constant, data 32 zero bytes */
const emitterCode = `0x${['aa', 'bb', 'cc'].map((topic) => `5f3560${topic}60205fa2`).join('')}00`

function logsNote(): GenesisNote {
  const first = chainStart + 2
  const config = {
    ...{ chainId: 90_101, bedrockBlock: 0, regolithTime: 0, canyonTime: chainStart, deltaTime: chainStart },
    ...{ ecotoneTime: first, fjordTime: first, graniteTime: first, holoceneTime: first, isthmusTime: first, jovianTime: first },
    optimism: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
  }
  const alloc = Array.from({ length: emitters }, (_, index) => [emitterAt(index), { balance: '0x0', nonce: '0x1', code: emitterCode }])
  return { config, genesisTimestamp: chainStart, extraAlloc: Object.fromEntries(alloc) }
}

const toldEvery = 10_000

/** Makes a chain of blocks with three logs each, in its own data directory. */
export async function createLogsWorld(folder: string, blocks: number): Promise<World> {
  const note = logsNote()
  const { genesis } = parseBaseGenesisNote(note)
  const world = logsWorldIn(folder)
  const { datadir, genesisFile, rollupFile } = world
  await using chain = await openChain(datadir, () => genesis)
  const { schedule } = chain.config
  for (let number = 1; number <= blocks; number++) {
    const word = new Uint8Array(32)
    new DataView(word.buffer).setUint32(28, number)
    await addBlock(chain, attributesAt(schedule, number, [userDeposit(`logs ${number}`, caller, emitterAt(number % emitters), word)]))
    if (number % toldEvery === 0) process.stderr.write(`${number} blocks of logs\n`)
  }
  writeFileSync(genesisFile, JSON.stringify(note))
  writeFileSync(rollupFile, JSON.stringify(rollupOf(note, genesisBlock(genesis, schedule).hash)))
  return world
}

/** Returns the chain of logs that was made in a folder. */
export const logsWorldIn = (folder: string): World => ({
  folder,
  genesisFile: join(folder, 'logs-genesis.json'),
  rollupFile: join(folder, 'logs-rollup.json'),
  datadir: join(folder, 'logs'),
})
