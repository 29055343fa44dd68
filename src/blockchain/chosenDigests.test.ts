import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { verifyDatabase } from '#database/verify'
import { bytesFromBigint, concatBytes, emptyBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { digestWith } from '#state/digests/digests'
import { nodeKey } from '#state/rows'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAccount } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import type { L2Ref } from '#types/blockRef'
import { parseAddress } from '#types/ids'
import { createExecution } from './execution.ts'

/** A contract and two slots, found by trial: the branch above them has the digest of the root of the account trie, if digests have no key. */
const contract = parseAddress('0xc0de000000000000000000000000000000d6483b')
const branch = Uint8Array.of(7, 9, 6, 7, 6, 5)
const slots = [23_474_894n, 37_724_475n]
/** SSTORE of the second word of the input in the slot of the first one */
const code = '0x6020355f355500'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule, [testAccount(contract, { nonce: 1n, code })])
const word = (value: bigint): Uint8Array => bytesFromBigint(value, 32)

it('blockchain/chosenDigests: older states are proved and built on after a block with a node that was chosen to hide the root', async () => {
  const [root, chosen] = [nodeKey(undefined, emptyBytes), nodeKey(keccak256(fromHex(contract)), branch)]
  const plain = digestWith(new Uint8Array(8))
  expect(plain.node(chosen.table, chosen.key)).toBe(plain.node(root.table, root.key))

  const datadir = mkdtempSync(join(tmpdir(), 'basalt-digests-'))
  try {
    await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
    agreeOnSchema(kv, chainSchema)
    const open = () => createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog })
    const refs: L2Ref[] = []
    {
      await using execution = open()
      refs.push((await execution.heads()).unsafe)
      const writes = slots.map((slot, nonce) =>
        signedBy('alice', { nonce: BigInt(nonce), to: contract, gasLimit: 100_000n, data: concatBytes(word(slot), word(1n)) }),
      )
      for (const transactions of [[], writes, [], []]) {
        const parent = refs.at(-1) as L2Ref
        const built = await execution.build(parent, attributesAt(schedule, parent.number + 1, transactions))
        if (built.kind === 'invalid') throw new Error(built.reason)
        refs.push(l2RefOf(config, built.payload))
      }
      await execution.setHeads({ ...(await execution.heads()), unsafe: refs.at(-1) as L2Ref })
    }
    // a new one has no nodes in memory
    await using execution = open()
    {
      using view = execution.view()
      expect(view.state(refs[1] as L2Ref)?.prove(contract, []).proof.length).toBeGreaterThan(0)
    }
    expect(await execution.build(refs[1] as L2Ref, attributesAt(schedule, 2, [], 7))).toMatchObject({ kind: 'built' })
    const { signal } = new AbortController()
    const { done, differences } = await verifyDatabase({ clock: systemClock, signal, onProgress: () => {} }, { datadir })
    expect([done, differences]).toEqual([true, []])
  } finally {
    rmSync(datadir, { recursive: true, force: true })
  }
})
