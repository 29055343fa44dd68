import { type BlockTimes, timestampOf } from '#chainspec/blockTime'
import { isActive } from '#chainspec/forks'
import { headerOfPayload } from '#engine/payloadHeader'
import { hashHeader } from '#types/header'
import type { Address, Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { decodeBody, signerOf, splitEnvelope, sszOfBody } from './envelope.ts'
import { timestampOfSsz } from './payloadSsz.ts'
import { type BlockVersion, blockVersionAt } from './topics.ts'

/** Reasons against a block message, in the order of the checks. Peers lose score for the first list only. */
export const rejectReasons = [
  'compression',
  'size',
  'timestamp_future',
  'timestamp_past',
  'invalid_signature',
  'invalid_signer',
  'invalid_block',
  'invalid_hash',
  'blob_gas_used',
  'excess_blob_gas',
  'too_many_blocks',
] as const
export const ignoreReasons = ['no_signer', 'topic_version', 'off_lattice', 'block_seen'] as const
export type RejectReason = (typeof rejectReasons)[number]
export type IgnoreReason = (typeof ignoreReasons)[number]

export type Verdict =
  | { readonly kind: 'accept'; readonly payload: Payload }
  | { readonly kind: 'reject'; readonly reason: RejectReason }
  | { readonly kind: 'ignore'; readonly reason: IgnoreReason }

/** Hashes of the blocks that were accepted at a height. */
export interface SeenBlocksView {
  at(number: number): readonly Hash[]
}

export type JudgeRules = {
  readonly config: BlockTimes & { readonly l2ChainId: number }
  /** unsafe block signer; undefined: not known yet */
  readonly signer: Address | undefined
  readonly nowMs: number
  readonly seen: SeenBlocksView
}

const [maxPastSec, maxFutureSec] = [60, 5]
/** A further block of a height is rejected once more than this many are accepted. */
const maxBlocksPerHeight = 5

const reject = (reason: RejectReason): Verdict => ({ kind: 'reject', reason })
const ignore = (reason: IgnoreReason): Verdict => ({ kind: 'ignore', reason })

/** Returns whether peers reject a block for its age. A node that publishes such blocks loses its score with all of them. */
export const isTooOld = (timestamp: number, nowMs: number): boolean => timestamp < Math.floor(nowMs / 1_000) - maxPastSec

/** Returns what is wrong with a signed payload by itself; undefined: nothing. */
function payloadRefusal({ config }: JudgeRules, version: BlockVersion, payload: Payload): Verdict | undefined {
  const { schedule } = config
  // upstream does not check these two: an honest peer may forward such a block, so its score stays
  if (blockVersionAt(schedule, payload.timestamp) !== version) return ignore('topic_version')
  if (timestampOf(config, payload.blockNumber) !== payload.timestamp) return ignore('off_lattice')
  if (hashHeader(headerOfPayload(schedule, payload)) !== payload.blockHash) return reject('invalid_hash')
  if (version < 2) return undefined
  if (payload.blobGasUsed !== 0n && !isActive(schedule, 'jovian', payload.timestamp)) return reject('blob_gas_used')
  return payload.excessBlobGas === 0n ? undefined : reject('excess_blob_gas')
}

/**
 * Decides about a block message. Pure: the caller adds an accepted block to the seen ones. The signature is checked before the payload is decoded, so
 * a peer without the key costs one hash of its message and one recovery.
 * @param version of the topic
 * @param message decompressed data; undefined: it did not decompress within the bound
 * @see specs protocol/rollup-node-p2p.md, "Block validation"; the order is that of Base's client
 */
export function judgeBlock(rules: JudgeRules, version: BlockVersion, message: Uint8Array | undefined): Verdict {
  if (message === undefined) return reject('compression')
  const envelope = splitEnvelope(message)
  const timestamp = envelope && timestampOfSsz(sszOfBody(envelope.body, version))
  if (envelope === undefined || timestamp === undefined) return reject('size')
  const nowSec = Math.floor(rules.nowMs / 1_000)
  if (timestamp > nowSec + maxFutureSec) return reject('timestamp_future')
  if (isTooOld(timestamp, rules.nowMs)) return reject('timestamp_past')
  if (rules.signer === undefined) return ignore('no_signer')
  const signer = signerOf(envelope, rules.config.l2ChainId)
  if (signer === undefined) return reject('invalid_signature')
  if (signer !== rules.signer) return reject('invalid_signer')
  const decoded = decodeBody(envelope.body, version)
  if (decoded.kind === 'malformed') return reject('invalid_block')
  const { payload } = decoded
  const refusal = payloadRefusal(rules, version, payload)
  if (refusal) return refusal
  const seen = rules.seen.at(payload.blockNumber)
  if (seen.length > maxBlocksPerHeight) return reject('too_many_blocks')
  return seen.includes(payload.blockHash) ? ignore('block_seen') : { kind: 'accept', payload }
}
