// A data directory with a generated state as genesis of a Denim chain, and the other files that a node needs.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Genesis, genesisHeader } from '#chainspec/genesis'
import { parseRollupConfig, type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { emptyTrieDiff } from '#test/harness/chain/emptyTrieDiff'
import { hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { commitGenesis } from '../../src/blockchain/commit/commit.ts'
import { openBulkWriter } from '../../src/store/bulk/bulkWriter.ts'
import { createDenimChain } from '../denim/chain.ts'
import { senders } from '../denim/senders.ts'
import { type OpenChain, openChain } from '../rpc/chains.ts'
import { routerCode } from './codes.ts'
import { StateModel, type StateSpec } from './model.ts'
import { type StateRoots, writeModel } from './stateWriter.ts'

/** `dir` is the node's data directory. */
export type StateWorld = {
  readonly dir: string
  readonly model: StateModel
  readonly config: RollupConfig
  readonly genesisFile: string
  readonly rollupFile: string
}

const nameOfSpec = 'state.json'
/** With these, `--retain.bodies 1h` keeps an hour (`rederivedSec`). */
const shortWindow = { sequencingWindowBlocks: 200, channelTimeoutBlocks: 20, channelTimeoutGraniteBlocks: 20 }

/**
 * Generates a state into a new data directory. The genesis file lacks the generated accounts: a node reads it for the chain's rules alone, because the
 * store has a genesis block already.
 * @param onDone called after each account with its number of slots
 */
export async function makeStateWorld(dir: string, spec: StateSpec, onDone: (slots: number) => void): Promise<StateWorld & { root: Hash }> {
  if (existsSync(join(dir, 'chain'))) throw new Error(`${dir} holds a chain; choose another directory`)
  mkdirSync(dir, { recursive: true })
  const model = new StateModel(spec)
  const chain = createDenimChain(dir, senders)
  const genesis = chain.genesis()
  const router = { address: model.router, nonce: 1n, balance: 0n, code: routerCode, storage: new Map<Hash, bigint>() }
  const roots = await writeState(join(dir, 'chain'), model, [...genesis.accounts, router], onDone)
  await using kv = openLmdbKv(join(dir, 'chain'), Object.values(tables))
  const header = genesisHeader(genesis, chain.config.schedule, roots)
  const hash = hashHeader(header)
  const trie = { root: roots.stateRoot, nodes: emptyTrieDiff, storageRoots: new Map<string, Hash>() }
  const diff = createStateDiff({ accounts: [], slots: [], codes: [] })
  agreeOnSchema(kv, chainSchema)
  kv.write((tx) => commitGenesis(tx, { header, hash, transactions: [], executed: [], diff, trie }))
  const config = { ...chain.config, ...shortWindow, genesis: { ...chain.config.genesis, l2: { number: header.number, hash } } }
  writeFileSync(chain.rollupFile, JSON.stringify(toRollupJson(config)))
  writeFileSync(join(dir, nameOfSpec), JSON.stringify(spec))
  return { dir, model, config, genesisFile: chain.genesisFile, rollupFile: chain.rollupFile, root: roots.stateRoot }
}

/** Writes the rows of a state into new tables of the chain. No other process may use the directory. */
async function writeState(dir: string, ...parts: ParametersAfterRows): Promise<StateRoots> {
  await using rows = openBulkWriter(dir, Object.values(tables))
  const roots = writeModel(rows, ...parts)
  rows.flush()
  return roots
}
type ParametersAfterRows = Parameters<typeof writeModel> extends [unknown, ...infer Rest] ? Rest : never

/** Returns a generated state by its directory. @throws Error when its generation did not end */
export function readStateWorld(dir: string): StateWorld {
  if (!existsSync(join(dir, nameOfSpec))) throw new Error(`no generated state in ${dir}: run stateMake --dir ${dir} first`)
  const spec = JSON.parse(readFileSync(join(dir, nameOfSpec), 'utf8')) as StateSpec
  const [genesisFile, rollupFile] = [join(dir, 'genesis.json'), join(dir, 'rollup.json')]
  const { config } = parseRollupConfig(JSON.parse(readFileSync(rollupFile, 'utf8')))
  return { dir, model: new StateModel(spec), config, genesisFile, rollupFile }
}

/** Opens the chain of a generated state in this process. */
export function openStateChain({ dir, config }: StateWorld): Promise<OpenChain> {
  const genesis = (): Genesis => {
    throw new Error(`${dir} has no genesis block`)
  }
  return openChain(dir, genesis, config)
}
