import type { L1Block } from '#derive/ports'
import { receiptFromJson } from '#l1/receiptJson'
import { type Verdict, verifyBody, verifyHeader } from '#l1/verifyBlock'
import { type Json, objectOf } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'
import { readSharedJson } from '../sharedData.ts'

/** L1 block as the results of `eth_getBlockByNumber` (full transactions) and `eth_getBlockReceipts`. */
export type RecordedBlock = { readonly block: Json; readonly receipts: readonly unknown[] }
export type RecordedBlob = { readonly slot: number; readonly commitment: string; readonly proof: string; readonly data: string }
export type RecordedL1 = {
  readonly chainId: number
  /** Unix time in seconds. */
  readonly genesisTime: number
  readonly secondsPerSlot: number
  readonly blocks: readonly RecordedBlock[]
  /** By versioned hash; `data` omits trailing zero bytes. */
  readonly blobs: Readonly<Record<string, RecordedBlob>>
}

export function readRecordedL1(name: string): RecordedL1 {
  return readSharedJson<RecordedL1>(`chains/${name}/l1.json.zst`)
}

/** Returns a recorded block with every root and hash recomputed. Throws when one of them differs. */
export function l1BlockOfJson({ block, receipts }: RecordedBlock): L1Block {
  const must = <T>(verdict: Verdict<T>): T => {
    if (verdict.kind === 'mismatch') throw new Error(`${verdict.what}: ${verdict.computed}, not ${verdict.expected}`)
    return verdict.value
  }
  const json = objectOf(block, 'block')
  const transactions = (json['transactions'] as unknown[]).map((tx) => {
    const raw = transactionFromJson(tx)
    if (!raw) throw new Error('unknown transaction type')
    return raw
  })
  return must(verifyBody(must(verifyHeader(json)), transactions, receipts.map(receiptFromJson)))
}

/** Returns all L1 blocks of a recorded chain, verified. */
export function readRecordedL1Blocks(name: string): readonly L1Block[] {
  return readRecordedL1(name).blocks.map(l1BlockOfJson)
}
