import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { l2RefOf } from '#chainspec/l2Ref'
import { DenimBlocks } from '../denim/chain.ts'
import { writeMixedBlocks } from '../denim/payloadFile.ts'
import type { OpenChain } from '../rpc/chains.ts'
import { StateMix } from './mix.ts'
import { openStateChain, type StateWorld } from './world.ts'

/** A file of blocks, and the slots of the generated state that the calls of a block name. */
export type MadeBlocks = { readonly path: string; readonly coldSlots: number; readonly hotSlots: number }

/**
 * Builds blocks of 8 Mgas on a generated state, writes them to a file, and removes them from the chain again. An earlier run's file is used again.
 * @throws Error when a transaction of the last block failed
 */
export async function makeBlocks(world: StateWorld, count: number): Promise<MadeBlocks> {
  const path = join(world.dir, `blocks-${count}.jsonl`)
  const factsPath = join(world.dir, `blocks-${count}.json`)
  if (existsSync(factsPath)) return { path, ...(JSON.parse(readFileSync(factsPath, 'utf8')) as Omit<MadeBlocks, 'path'>) }
  await using chain = await openStateChain(world)
  const blocks = await DenimBlocks.on(world.config, chain)
  const mix = new StateMix(world.model)
  await writeMixedBlocks(path, blocks, mix.setUp(), count, () => mix.next())
  if (failures(chain) > 0) throw new Error(`${failures(chain)} transactions of the last block failed`)
  await backToGenesis(world, chain)
  const facts = { coldSlots: mix.named.cold / count, hotSlots: mix.named.hot / count }
  writeFileSync(factsPath, JSON.stringify(facts))
  return { path, ...facts }
}

/** Returns the number of failed transactions in the last block. */
function failures({ execution }: OpenChain): number {
  using view = execution.view()
  const receipts = view.receipts(execution.published.heads.unsafe.hash) ?? []
  return receipts.filter(({ receipt }) => !receipt.succeeded).length
}

/** Removes the blocks of a run that was interrupted. */
export async function removeBlocks(world: StateWorld): Promise<void> {
  await using chain = await openStateChain(world)
  if (chain.execution.published.heads.unsafe.number > 0) await backToGenesis(world, chain)
}

/** Removes all blocks above the genesis block. */
async function backToGenesis({ config }: StateWorld, { execution }: OpenChain): Promise<void> {
  const genesis = await execution.payload(0)
  if (genesis === undefined) throw new Error('no genesis block')
  const ref = l2RefOf(config, genesis)
  await execution.setHeads({ unsafe: ref, safe: ref, finalized: ref })
  execution.commit()
}
