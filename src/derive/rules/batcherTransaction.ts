import { equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { RlpError, rlpHead } from '#lib/rlp'
import { recoverAddress } from '#lib/secp256k1'
import type { Address, Hash } from '#types/ids'
import { decodeTransaction, depositType, type SignedTransaction, signatureBytes, signingDigest } from '#types/transaction'

/** Data of a batcher transaction: its calldata, or the versioned hash of a blob. */
export type Carried = { readonly kind: 'calldata'; readonly data: Uint8Array } | { readonly kind: 'blob'; readonly hash: Hash }

/** Number of fields before `to` in the RLP of each transaction type that derivation reads. */
const fieldsBefore: Readonly<Record<number, number>> = { 0: 3, 1: 4, 2: 5, 3: 5 }

/** Returns whether the transaction is sent to the inbox. It reads only the fields before `to`, because most transactions go elsewhere. */
function goesTo(inbox: Uint8Array, raw: Uint8Array): boolean {
  const first = raw[0] ?? 0
  const type = first >= 0xc0 ? 0 : first
  const before = first === 0 ? undefined : fieldsBefore[type]
  if (before === undefined) return false
  let at = rlpHead(raw, type === 0 ? 0 : 1).from
  for (let i = 0; i < before; i++) at = rlpHead(raw, at).to
  const { isList, from, to } = rlpHead(raw, at)
  return !isList && equalBytes(raw.subarray(from, to), inbox)
}

function isSignedBy(batcher: Uint8Array, tx: SignedTransaction): boolean {
  const signature = signatureBytes(tx)
  const sender = signature && recoverAddress(signingDigest(tx), signature, tx.yParity)
  return sender !== undefined && equalBytes(sender, batcher)
}

function read(raw: Uint8Array, inbox: Uint8Array, batcher: Uint8Array): SignedTransaction | undefined {
  try {
    if (!goesTo(inbox, raw)) return undefined
    const tx = decodeTransaction(raw)
    return tx.type !== depositType && isSignedBy(batcher, tx) ? tx : undefined
  } catch (error) {
    if (error instanceof RlpError) return undefined
    throw error
  }
}

/**
 * Returns the data of the batcher transactions of one L1 block, in order: transactions of types 0 to 3 to the inbox that the batcher signed. From
 * Ecotone on, the calldata of a blob transaction is ignored.
 * @param transactions EIP-2718 bytes
 * @see specs protocol/derivation.md, "L1 Retrieval"; ecotone/derivation.md, "Ecotone: Blob Retrieval"
 */
export function batcherData(
  transactions: readonly Uint8Array[],
  rules: { readonly inbox: Address; readonly batcher: Address; readonly readsBlobs: boolean },
): readonly Carried[] {
  const inbox = fromHex(rules.inbox)
  const batcher = fromHex(rules.batcher)
  const carried: Carried[] = []
  for (const raw of transactions) {
    const tx = read(raw, inbox, batcher)
    if (tx === undefined) continue
    if (tx.type === 3 && rules.readsBlobs) carried.push(...tx.blobVersionedHashes.map((hash) => ({ kind: 'blob', hash }) as const))
    else carried.push({ kind: 'calldata', data: tx.data })
  }
  return carried
}
