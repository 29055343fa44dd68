import type { BlockId } from '#types/blockRef'
import { anyJson } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { methodNotFound } from '../../errors.ts'
import type { Json } from '../../json.ts'
import type { Method } from '../../registry.ts'
import { ethMethod } from '../define.ts'

const idOf = ({ number, hash }: BlockId): Json => ({ number, hash })

/** `earliest` and `latest` as base-reth-node answers, and the same blocks with their hashes: without them a caller cannot see a reorg. */
const proofsSyncStatus = ethMethod({
  name: 'debug_proofsSyncStatus',
  doc: 'First and last block of the recorded proofs (--proofs-history): {earliest, latest}, numbers or null, and {earliestBlock, latestBlock} with number and hash.',
  params: [],
  result: anyJson('recorded blocks', { type: 'object', required: ['earliest', 'latest'] }),
  cost: 'instant',
  example: { params: [] },
  run({ chain }: EthContext): Json {
    using view = chain.view()
    if (view.proofs === undefined) throw methodNotFound()
    const { window } = view.proofs
    if (window === undefined) return { earliest: null, latest: null }
    const { earliest, latest } = window
    return { earliest: earliest.number, latest: latest.number, earliestBlock: idOf(earliest), latestBlock: idOf(latest) }
  },
})

export const proofsMethods: readonly Method<EthContext>[] = [proofsSyncStatus]
