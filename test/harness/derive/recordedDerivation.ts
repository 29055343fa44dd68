import { applyConfigUpdates } from '#chainspec/configUpdate'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import type { L1Block, SafeBlock, SafeHead, StartPoint } from '#derive/ports'
import { fromHex, toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { Build, DriverWorld } from './driver.ts'
import { safeHeadAt } from './driver.ts'

/** Recorded chain for derivation: verified L1 blocks in memory, recorded L2 blocks in place of execution. */
export type Recording = {
  readonly config: RollupConfig
  readonly payloads: readonly Payload[]
  readonly l1: readonly L1Block[]
  /** By versioned hash; `data` omits trailing zero bytes. */
  readonly blobs: Readonly<Record<string, { readonly data: string }>>
}

function paddedBlob(data: string): Uint8Array {
  const blob = new Uint8Array(131_072)
  blob.set(fromHex(data))
  return blob
}

export function headAt({ config, payloads }: Recording, number: number): SafeHead {
  const payload = payloads[number]
  if (!payload) throw new RangeError(`no L2 block ${number}`)
  return safeHeadAt(config, l2RefOf(config, payload), payload)
}

function systemConfigAt({ config, l1 }: Recording, number: number): SystemConfig {
  let now = config.genesis.systemConfig
  for (const { ref, receipts } of l1) {
    if (ref.number <= config.genesis.l1.number || ref.number > number) continue
    now = applyConfigUpdates(now, config, { timestamp: ref.timestamp, receipts }).systemConfig
  }
  return now
}

/** Start point of derivation when the block with this number is safe. */
export function startAt(recording: Recording, number: number, channelTimeoutBlocks: number): StartPoint {
  const safe = headAt(recording, number)
  const from = Math.max(recording.config.genesis.l1.number, safe.ref.l1Origin.number - channelTimeoutBlocks)
  const block = recording.l1.find(({ ref }) => ref.number === from)
  if (!block) throw new RangeError(`no L1 block ${from}`)
  return { l1: block.ref, systemConfig: systemConfigAt(recording, from), safe }
}

export function recordedWorld(recording: Recording, build: Build): DriverWorld {
  const { config, payloads, blobs } = recording
  const byNumber = new Map(recording.l1.map((block) => [block.ref.number, block]))
  const cached = new Map<Hash, Uint8Array>()
  const blob = (hash: Hash): Uint8Array | undefined => {
    const found = cached.get(hash) ?? (blobs[hash] && paddedBlob(blobs[hash].data))
    if (found) cached.set(hash, found)
    return found
  }
  return {
    build,
    l1: (number) => byNumber.get(number),
    blobs: (hashes) => {
      const found = hashes.map(blob)
      return found.every((one) => one !== undefined) ? found : 'missing'
    },
    l2: (number): SafeBlock | undefined => {
      const payload = payloads[number]
      return payload && { ref: l2RefOf(config, payload), transactions: payload.transactions }
    },
  }
}

const transactionsAsHex = (transactions: readonly Uint8Array[]): string[] => transactions.map(toHex)

/** Returns attributes with hex in place of bytes, for readable differences. */
export function readableAttributes(attributes: PayloadAttributes): Readonly<Record<string, unknown>> {
  return {
    ...attributes,
    transactions: transactionsAsHex(attributes.transactions),
    ...(attributes.eip1559Params && { eip1559Params: toHex(attributes.eip1559Params) }),
  }
}

/**
 * Returns the attributes from which a payload was built, in readable form.
 * @param isFirstHolocene the attributes have zero EIP-1559 parameters, which execution replaces by the chain's own
 */
export function attributesIn(payload: Payload, isFirstHolocene: boolean): Readonly<Record<string, unknown>> {
  const { extraData } = payload
  return {
    timestamp: payload.timestamp,
    prevRandao: payload.prevRandao,
    suggestedFeeRecipient: payload.feeRecipient,
    transactions: transactionsAsHex(payload.transactions),
    noTxPool: true,
    gasLimit: payload.gasLimit,
    ...(payload.withdrawals !== undefined && { withdrawals: [] }),
    ...(payload.parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot: payload.parentBeaconBlockRoot }),
    ...(extraData.length >= 9 && { eip1559Params: isFirstHolocene ? `0x${'00'.repeat(8)}` : toHex(extraData.subarray(1, 9)) }),
    ...(extraData.length >= 17 && { minBaseFee: BigInt(toHex(extraData.subarray(9, 17))) }),
  }
}
