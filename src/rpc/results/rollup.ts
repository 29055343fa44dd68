import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { type RollupConfig, toRollupJson } from '#chainspec/rollupConfig'
import { zeroHash } from '#types/ids'
import type { RollupStatus } from '#types/rollupStatus'
import type { TrustRecord } from '#types/trust'
import type { Json } from '../json.ts'
import type { OutputFacts } from '../ports.ts'
import { object, refTo } from '../reference/schemas.ts'
import type { ResultCodec } from '../registry.ts'
import { blockIdResult, l1RefResult, l2RefResult } from './refs.ts'

/** Codec of the sync status. Without interop, cross-unsafe equals unsafe and local-safe equals safe. */
export const syncStatusResult: ResultCodec<RollupStatus> = {
  doc: 'L1 and L2 heads of the consensus half, unknown ones are zero; and, as an extension, the block on which the state begins with its grade of trust',
  schema: refTo('RollupStatus'),
  encode: (status) => ({
    current_l1: l1RefResult(status.currentL1),
    current_l1_finalized: l1RefResult(status.finalizedL1),
    head_l1: l1RefResult(status.headL1),
    safe_l1: l1RefResult(status.safeL1),
    finalized_l1: l1RefResult(status.finalizedL1),
    unsafe_l2: l2RefResult(status.unsafeL2),
    safe_l2: l2RefResult(status.safeL2),
    finalized_l2: l2RefResult(status.finalizedL2),
    cross_unsafe_l2: l2RefResult(status.unsafeL2),
    local_safe_l2: l2RefResult(status.safeL2),
    ...(status.trust && { trust: trustResult(status.trust) }),
  }),
}

const trustResult = ({ block, grade, l1, game }: TrustRecord): Json => ({
  ...{ grade, block: blockIdResult(block) },
  ...(l1 && { l1: blockIdResult(l1) }),
  ...(game && { proposal: game }),
})

export type OutputAnswer = { readonly output: OutputFacts; readonly status: RollupStatus }

export const outputResult: ResultCodec<OutputAnswer> = {
  doc: 'output root of an L2 block with its components',
  schema: object('output root', {
    ...{ version: refTo('Hash'), outputRoot: refTo('Hash'), blockRef: refTo('L2Ref'), withdrawalStorageRoot: refTo('Hash') },
    ...{ stateRoot: refTo('Hash'), syncStatus: refTo('RollupStatus') },
  }),
  encode: ({ output, status }) => ({
    version: zeroHash,
    outputRoot: l2OutputRoot({ ...output, hash: output.ref.hash }),
    blockRef: l2RefResult(output.ref),
    withdrawalStorageRoot: output.messagePasserStorageRoot,
    stateRoot: output.stateRoot,
    syncStatus: syncStatusResult.encode(status),
  }),
}

export const rollupConfigResult: ResultCodec<RollupConfig> = {
  doc: 'rollup configuration, in the format of rollup.json, without the activation admin, which clients of Base refuse there',
  schema: { type: 'object', required: ['genesis', 'block_time', 'l1_chain_id', 'l2_chain_id', 'batch_inbox_address'] },
  encode: (config) => {
    const { activationAdmin: _, ...schedule } = config.schedule
    return toRollupJson({ ...config, schedule }) as Json
  },
}
