import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { l2RefOf } from '#chainspec/l2Ref'
import { DenimBlocks } from '../denim/chain.ts'
import { writeMixedBlocks } from '../denim/payloadFile.ts'
import type { OpenChain } from '../rpc/chains.ts'
import { StateMix } from './mix.ts'
import { openStateChain, type StateWorld } from './world.ts'

export const blocksFileOf = (world: StateWorld, count: number): string => join(world.dir, `blocks-${count}.jsonl`)

/**
 * Builds blocks of 8 Mgas on a generated state, writes them to a file, and removes them from the chain again.
 * @returns the file, which may be of an earlier run
 */
export async function makeBlocks(world: StateWorld, count: number): Promise<string> {
  const path = blocksFileOf(world, count)
  if (existsSync(path)) return path
  await using chain = await openStateChain(world)
  const blocks = await DenimBlocks.on(world.config, chain)
  const mix = new StateMix(world.model)
  const unfinished = `${path}.part`
  await writeMixedBlocks(unfinished, blocks, mix.setUp(), count, () => mix.next())
  const { cold, hot } = mix.named
  process.stderr.write(`slots that a block's calls name: ${(cold / count).toFixed(0)} cold, ${(hot / count).toFixed(0)} hot\n`)
  process.stderr.write(`failed transactions: ${(failedShare(chain) * 100).toFixed(2)} %\n`)
  await backToGenesis(world, chain)
  renameSync(unfinished, path)
  return path
}

/** Returns the share of failed transactions in the last block. */
function failedShare({ execution }: OpenChain): number {
  using view = execution.view()
  const receipts = view.receipts(execution.published.heads.unsafe.hash) ?? []
  return receipts.filter(({ receipt }) => !receipt.succeeded).length / Math.max(1, receipts.length)
}

/** Removes all blocks above the genesis block. */
export async function backToGenesis({ config }: StateWorld, { execution }: OpenChain): Promise<void> {
  const genesis = await execution.payload(0)
  if (genesis === undefined) throw new Error('no genesis block')
  const ref = l2RefOf(config, genesis)
  await execution.setHeads({ unsafe: ref, safe: ref, finalized: ref })
}
