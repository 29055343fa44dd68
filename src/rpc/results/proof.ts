import { toHex, toQuantity } from '#lib/hex'
import { type Address, emptyCodeHash, emptyRoot } from '#types/ids'
import type { AccountProof } from '#types/worldReads'
import type { SlotKey } from '../codecs/values.ts'
import type { Json } from '../json.ts'
import { refTo } from '../reference/schemas.ts'
import type { ResultCodec } from '../registry.ts'

export type ProofAnswer = { readonly address: Address; readonly keys: readonly SlotKey[]; readonly proof: AccountProof }

/** RLP of no bytes: the only node of a trie without entries. */
const emptyTrieNode = '0x80'

function slotResult(key: SlotKey, slot: AccountProof['slots'][number] | undefined): Json {
  const nodes = slot?.proof ?? []
  return {
    key: key.written,
    value: toQuantity(slot?.value ?? 0n),
    proof: nodes.length === 0 ? [emptyTrieNode] : nodes.map(toHex),
  }
}

export const proofResult: ResultCodec<ProofAnswer> = {
  doc: 'account with Merkle proofs (EIP-1186)',
  schema: refTo('AccountProof'),
  encode({ address, keys, proof }): Json {
    const { account } = proof
    return {
      address,
      balance: toQuantity(account?.balance ?? 0n),
      codeHash: account?.codeHash ?? emptyCodeHash,
      nonce: toQuantity(account?.nonce ?? 0n),
      storageHash: account?.storageRoot ?? emptyRoot,
      accountProof: proof.proof.map(toHex),
      storageProof: keys.map((key, index) => slotResult(key, proof.slots[index])),
    }
  },
}
