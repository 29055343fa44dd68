import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fromHex, type Hex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { decodeRlp, rlpBigint, rlpList } from '#lib/rlp'
import { messagePasser, outputRootOf, verifyOutputRoot, verifyProof as verifyWithoutNode } from '#proofVerifier/proof'
import { dice } from '#test/harness/dice'
import { damaged } from '#test/harness/proofs/damage'
import type { ProofJson } from '#test/harness/proofs/recorded'
import { readExchangesIn } from '#test/harness/rpc/exchanges'
import { readSharedJson, sharedDataDir } from '#test/harness/sharedData'
import { orderedRoot } from '#trie/orderedRoot'
import { type ProofVerdict, verifyProof } from '#trie/proof'
import { decodeBlock } from '#types/block'
import type { Hash } from '#types/ids'

type Chain = { blocks: { number: number; stateRoot: Hash; raw: Hex }[] }

const fieldOf = (verdict: ProofVerdict, index?: number): bigint => {
  if (verdict.kind !== 'present') return 0n
  const item = decodeRlp(verdict.value)
  return rlpBigint(index === undefined ? item : rlpList(item, 'account')[index], 'value')
}

/** Recorded answers of a method that are results, with the parameters of the requests. */
const answered = <T>(chain: string, method: string): { params: readonly unknown[]; result: T }[] =>
  readExchangesIn(resolve(sharedDataDir, 'chains', chain)).flatMap(({ method: asked, params, outcome }) =>
    asked === method && 'result' in outcome && outcome.result !== null ? [{ params, result: outcome.result as T }] : [],
  )

/** Result of `optimism_outputAtBlock`. */
type Output = { outputRoot: string; stateRoot: string; withdrawalStorageRoot: string; blockRef: { hash: string; number: number } }

describe.each(['op-bedrock-to-holocene', 'op-ecotone-to-jovian'])('%s', (chain) => {
  const { blocks } = readSharedJson<Chain>(`chains/${chain}/l2.json.zst`)

  const roots = new Map(blocks.map(({ number, stateRoot }) => [number, stateRoot]))
  const proofs = answered<ProofJson>(chain, 'eth_getProof').map(({ params, result }) => {
    const root = roots.get(Number(params[2])) ?? expect.fail(`block ${params[2]} not found`)
    return { root, result }
  })

  it('trie/proof: verifies every recorded proof with the recorded values', () => {
    for (const { root, result } of proofs) {
      const account = verifyProof(root, keccak256(fromHex(result.address)), result.accountProof.map(fromHex))
      expect(account.kind).not.toBe('invalid')
      expect(fieldOf(account, 1)).toBe(BigInt(result.balance))
      // for an absent account one client returns a zero hash and no proofs
      for (const { key, value, proof } of account.kind === 'absent' ? [] : result.storageProof) {
        const slotKey = keccak256(fromHex(`0x${key.slice(2).padStart(64, '0')}`))
        const slot = verifyProof(result.storageHash as Hash, slotKey, proof.map(fromHex))
        expect(slot.kind).not.toBe('invalid')
        expect(fieldOf(slot)).toBe(BigInt(value))
      }
    }
    expect(proofs.length).toBeGreaterThan(30)
  })

  it('proofVerifier/proof: verifies every recorded proof with the recorded values, and refuses 30 damaged ones of each', () => {
    const roll = dice(3)
    for (const { root, result } of proofs) {
      const slots = result.storageProof.map(({ key }) => key)
      const wanted = { stateRoot: root, address: result.address, slots }
      const verdict = verifyWithoutNode(result, wanted)
      expect(verdict).toMatchObject({ kind: 'valid', account: { balance: BigInt(result.balance), nonce: BigInt(result.nonce) } })
      expect('slots' in verdict && verdict.slots.map(({ value }) => value)).toEqual(result.storageProof.map(({ value }) => BigInt(value)))
      for (let i = 0; i < 30; i++) {
        const { proof, what } = damaged(result, roll)
        expect(verifyWithoutNode(proof, wanted).kind, what).toBe('invalid')
      }
    }
  })

  it('proofVerifier/proof: verifies every recorded output root, with the storage root of a proof of the message passer', () => {
    const outputs = answered<Output>(chain, 'optimism_outputAtBlock')
    const storageRoots = new Map(
      proofs.flatMap(({ root, result }) => (result.address === messagePasser ? [[root, result.storageHash]] : [])),
    )
    let proved = 0
    for (const { result } of outputs) {
      const { outputRoot, stateRoot, withdrawalStorageRoot: messagePasserStorageRoot, blockRef } = result
      const parts = { stateRoot, messagePasserStorageRoot, blockHash: blockRef.hash }
      expect(verifyOutputRoot(outputRoot, parts)).toEqual({ kind: 'valid' })
      expect(outputRootOf({ ...parts, blockHash: stateRoot })).not.toBe(outputRoot)
      const storageRoot = storageRoots.get(stateRoot as Hash)
      if (storageRoot === undefined) continue
      expect(storageRoot).toBe(messagePasserStorageRoot)
      proved++
    }
    expect(outputs.length).toBeGreaterThan(10)
    expect(proved).toBeGreaterThan(0)
  })

  it('trie/orderedRoot: computes the transactions root of every recorded block', () => {
    for (const { raw } of blocks) {
      const { header, transactions } = decodeBlock(fromHex(raw))
      expect(orderedRoot(transactions)).toBe(header.transactionsRoot)
    }
  })
})
