import type { L1Block } from '#derive/ports'
import { type RecordedChainName, readRecordedChain } from '#devnet/recordedChain'
import type { L1Recording } from '#devnet/recordedL1'
import { receiptFromJson } from '#l1/receiptJson'
import { type Verdict, verifyBody, verifyHeader } from '#l1/verifyBlock'
import { objectOf } from '#types/jsonShape'
import { transactionFromJson } from '#types/transactionJson'

export const readRecordedL1 = (name: RecordedChainName): L1Recording => readRecordedChain(name).l1

/** Returns a recorded block with every root and hash recomputed. Throws when one of them differs. */
export function l1BlockOfJson({ block, receipts }: L1Recording['blocks'][number]): L1Block {
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
export function readRecordedL1Blocks(name: RecordedChainName): readonly L1Block[] {
  return readRecordedL1(name).blocks.map(l1BlockOfJson)
}
