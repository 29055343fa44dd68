import { describe, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { stateAt, unwindState } from '#state/chainState'
import type { Kv } from '#store/ports'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createProof } from '#trie/proof'
import { decodeBlock } from '#types/block'
import { emptyRoot, type Hash } from '#types/ids'

type Recorded = { readonly blocks: readonly { readonly raw: Hex; readonly stateRoot: Hash }[] }
type Proof = { address: Hex; accountProof: Hex[]; storageProof: { key: string; proof: Hex[] }[] }
type Exchange = { readonly number: number; readonly proof: Proof }

/** Recorded `eth_getProof` exchanges with a result, with their block numbers. */
function exchangesOf(folder: string): Exchange[] {
  const lines = readShared(`${folder}/rpc/eth_getProof.io.zst`).toString('utf8').split('\n')
  const parsed = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => JSON.parse(line.slice(3)))
  const replies = parsed('<<')
  return parsed('>>').flatMap(({ params }, i) => (replies[i].result ? [{ number: Number(params[2]), proof: replies[i].result }] : []))
}

async function importChain(kv: Kv, folder: string): Promise<readonly Hash[]> {
  const recorded = readSharedJson<Recorded>(`${folder}/l2.json.zst`)
  const { genesis } = parseBaseGenesisNote(recorded)
  const config = agreeWithGenesis(parseRollupConfig(readSharedJson(`${folder}/rollup.json`)), genesis)
  const execution = createExecution({ kv, evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog })
  for (const { raw } of recorded.blocks.slice(1)) {
    const payload = payloadOfBlock(decodeBlock(fromHex(raw)))
    expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  await execution.close()
  return recorded.blocks.map(({ stateRoot }) => stateRoot)
}

/** Compares every recorded proof of the blocks up to `head`. @returns their number */
function compareProofs(kv: Kv, roots: readonly Hash[], exchanges: readonly Exchange[], head: number): number {
  using snapshot = kv.snapshot()
  let compared = 0
  for (const { number, proof } of exchanges) {
    if (number > head) continue
    const root = roots[number] ?? expect.fail(`block ${number} not found`)
    const { view, nodes } = stateAt(snapshot, number, () => undefined)
    const addressKey = keccak256(fromHex(proof.address))
    expect(createProof(nodes, undefined, root, addressKey).map(toHex)).toEqual(proof.accountProof)
    const storageRoot = view.account(addressKey)?.storageRoot ?? emptyRoot
    for (const { key, proof: recorded } of proof.storageProof) {
      const slotKey = keccak256(fromHex(`0x${key.slice(2).padStart(64, '0')}`))
      // for an empty trie one client returns no node, the other 0x80
      const expected = recorded.filter((node) => node !== '0x80')
      expect(createProof(nodes, addressKey, storageRoot, slotKey).map(toHex)).toEqual(expected)
    }
    compared++
  }
  return compared
}

describe.each(['chains/op-bedrock-to-holocene', 'chains/op-ecotone-to-jovian'])('%s', (folder) => {
  it("state/chainState: gives another client's proofs at any block, node for node, before and after an unwind", async () => {
    await using kv = createMemoryKv()
    const roots = await importChain(kv, folder)
    const exchanges = exchangesOf(folder)
    const head = roots.length - 1
    const all = compareProofs(kv, roots, exchanges, head)
    expect(all).toBe(exchanges.length)
    for (let number = head; number > 60; number--) kv.write((tx) => unwindState(tx, number))
    const below = compareProofs(kv, roots, exchanges, 60)
    expect(below).toBe(exchanges.filter(({ number }) => number <= 60).length)
  })
})
