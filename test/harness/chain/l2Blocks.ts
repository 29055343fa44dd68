import { payloadOfBlock } from '#block/execution/payloadBlock'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { fromHex } from '#lib/hex'
import { decodeBlock } from '#types/block'
import type { Payload } from '#types/payload'
import { readSharedJson } from '../sharedData.ts'

export const recordedChains = ['op-bedrock-to-holocene', 'op-ecotone-to-jovian'] as const

export type RecordedL2 = { readonly config: RollupConfig; readonly payloads: readonly Payload[] }

/** Returns a recorded chain's rollup config and L2 blocks, genesis first. */
export function readRecordedL2(name: string): RecordedL2 {
  const { config } = parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`))
  const l2 = readSharedJson<{ blocks: { raw: string }[] }>(`chains/${name}/l2.json.zst`)
  return { config, payloads: l2.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(fromHex(raw)))) }
}
