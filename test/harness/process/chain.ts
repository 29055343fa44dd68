import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { framesOf } from '#derive/batchEncoder'
import { encodeFrames } from '#derive/codec/frame'
import { type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import type { L1Recording } from '#devnet/recordedL1'
import { channelOf } from '#test/harness/derive/channels'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { emptyChain, extendChain, genesisNote } from '../chain/generatedChain.ts'
import { l1Transaction } from '../derive/l1.ts'

/** Chain for nodes in processes, with the expected block of each number. */
export type ProcessChain = {
  readonly name: string
  readonly config: RollupConfig
  readonly l1: L1Recording
  readonly rollupJson: unknown
  readonly genesisJson: unknown
  /** By number, genesis first. */
  readonly blocks: readonly Payload[]
  /** Number of the safe L2 block after each L1 block, indexed by L1 number. */
  readonly safeHeads: readonly number[]
}

/** Recorded chain of other clients, with their safe heads. */
export function recordedProcessChain(name: RecordedChainName): ProcessChain {
  const { config, l1, rollupJson, genesisJson, blocks, safeHeads } = readRecordedChain(name)
  const payloads = blocks.map(({ raw, hash }) => payloadOfBlock(decodeBlock(raw), hash))
  return { name, config, l1, rollupJson, genesisJson, blocks: payloads, safeHeads }
}

/** Longer generated chain, posted to L1 in span batches. It shows that runs agree with each other; no other client has executed it. */
export async function generatedProcessChain(length: number): Promise<ProcessChain> {
  await using kv = createMemoryKv()
  const chain = emptyChain(kv)
  const { config, execution, l1 } = chain
  const safeHeads: number[] = []
  let safe = 0
  let channels = 0
  await extendChain(chain, length, (made) => {
    const last = made.at(-1)
    if (last === undefined) return []
    while (safeHeads.length < l1.blocks.length) safeHeads.push(safe)
    safe = last.ref.number
    const channel = channelOf(config, made, { batches: 'span', compression: 'brotli' })
    const id = `0x${(++channels).toString(16).padStart(32, '0')}` as const
    const frames = framesOf(id, channel, { kind: 'calldata', maxBytes: 100_000 })
    return frames.map((frame) => l1Transaction({ to: config.batchInbox, data: encodeFrames([frame]) }))
  })
  while (safeHeads.length < l1.blocks.length) safeHeads.push(safe)
  const blocks: Payload[] = []
  for (let number = 0; number <= length; number++) {
    const payload = await execution.payload(number)
    if (payload === undefined) throw new Error(`block ${number} not found`)
    blocks.push(payload)
  }
  const rollupJson = toRollupJson(config)
  return { name: `generated-${length}`, config, l1: l1.recording(), rollupJson, genesisJson: genesisNote(), blocks, safeHeads }
}

/** Number of the last L1 block of a chain. */
export const lastL1 = ({ l1 }: Pick<ProcessChain, 'l1'>): number => l1.blocks.length - 1

/** Number and hash of the safe head after an L1 block. */
export function safeAfter({ safeHeads, blocks }: ProcessChain, l1Number: number): { readonly number: number; readonly hash: Hash } {
  const number = safeHeads[Math.max(0, Math.min(l1Number, safeHeads.length - 1))] ?? 0
  const block = blocks[number]
  if (block === undefined) throw new Error(`block ${number} not found`)
  return { number, hash: block.blockHash }
}

/** Writes the rollup config and the genesis into a folder. @returns the flags that name the two files */
export function chainFlags({ name, rollupJson, genesisJson }: ProcessChain, folder: string): readonly string[] {
  const file = (what: string, json: unknown): string => {
    const path = join(folder, `${name}-${what}.json`)
    writeFileSync(path, JSON.stringify(json))
    return path
  }
  return ['--rollup.config', file('rollup', rollupJson), '--genesis', file('genesis', genesisJson)]
}
