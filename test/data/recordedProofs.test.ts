import { describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, rlpBigint, rlpList } from '#lib/rlp'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { orderedRoot } from '#trie/orderedRoot'
import { type ProofVerdict, verifyProof } from '#trie/proof'
import { decodeBlock } from '#types/block'
import type { Hash } from '#types/ids'

type Chain = { blocks: { number: number; stateRoot: Hash; raw: Hex }[] }
type Proof = {
  address: Hex
  accountProof: Hex[]
  balance: Hex
  storageHash: Hash
  storageProof: { key: string; value: Hex; proof: Hex[] }[]
}

/** Recorded exchanges that have a result. */
function answered(path: string): { params: [Hex, string[], Hex]; result: Proof }[] {
  const lines = readShared(path).toString('utf8').split('\n')
  const parsed = (sign: string): { params: [Hex, string[], Hex]; result?: Proof }[] =>
    lines.filter((line) => line.startsWith(sign)).map((line) => JSON.parse(line.slice(3)))
  const replies = parsed('<<')
  return parsed('>>').flatMap(({ params }, i) => (replies[i]?.result ? [{ params, result: replies[i].result }] : []))
}

const fieldOf = (verdict: ProofVerdict, index?: number): bigint => {
  if (verdict.kind !== 'present') return 0n
  const item = decodeRlp(verdict.value)
  return rlpBigint(index === undefined ? item : rlpList(item, 'account')[index], 'value')
}

describe.each(['op-bedrock-to-holocene', 'op-ecotone-to-jovian'])('%s', (chain) => {
  const { blocks } = readSharedJson<Chain>(`chains/${chain}/l2.json.zst`)

  it('trie/proof: verifies every recorded proof with the recorded values', () => {
    const exchanges = answered(`chains/${chain}/rpc/eth_getProof.io.zst`)
    const roots = new Map(blocks.map(({ number, stateRoot }) => [number, stateRoot]))
    for (const { params, result } of exchanges) {
      const root = roots.get(Number(params[2])) ?? expect.fail(`block ${params[2]} not found`)
      const account = verifyProof(root, keccak256(fromHex(result.address)), result.accountProof.map(fromHex))
      expect(account.kind).not.toBe('invalid')
      expect(fieldOf(account, 1)).toBe(BigInt(result.balance))
      // for an absent account one client returns a zero hash and no proofs
      for (const { key, value, proof } of account.kind === 'absent' ? [] : result.storageProof) {
        const slot = verifyProof(result.storageHash, keccak256(fromHex(`0x${key.slice(2).padStart(64, '0')}`)), proof.map(fromHex))
        expect(slot.kind).not.toBe('invalid')
        expect(fieldOf(slot)).toBe(BigInt(value))
      }
    }
    expect(exchanges.length).toBeGreaterThan(30)
  })

  it('trie/orderedRoot: computes the transactions root of every recorded block', () => {
    for (const { raw } of blocks) {
      const { header, transactions } = decodeBlock(fromHex(raw))
      expect(orderedRoot(transactions)).toBe(header.transactionsRoot)
    }
  })
})
