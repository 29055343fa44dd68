import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution, type Execution } from '#blockchain/execution'
import { sequencerFeeVault } from '#chainspec/addresses'
import { isActive } from '#chainspec/forks'
import { l2RefOf } from '#chainspec/l2Ref'
import { type RecordedChainName, readRecordedChain, recordedChains } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { fromHex, toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { verifyProof } from '#trie/proof'
import { decodeBlock } from '#types/block'
import type { Payload, PayloadAttributes } from '#types/payload'

/** Attributes from which a recorded block was built. */
function attributesOf(isHolocene: boolean, isJovian: boolean, payload: Payload): PayloadAttributes {
  const { withdrawals, parentBeaconBlockRoot, extraData } = payload
  return {
    timestamp: payload.timestamp,
    prevRandao: payload.prevRandao,
    suggestedFeeRecipient: payload.feeRecipient,
    transactions: payload.transactions,
    noTxPool: true,
    gasLimit: payload.gasLimit,
    ...(withdrawals && { withdrawals }),
    ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }),
    ...(isHolocene && { eip1559Params: extraData.slice(1, 9) }),
    ...(isJovian && { minBaseFee: BigInt(toHex(extraData.subarray(9))) }),
  }
}

describe.each(Object.keys(recordedChains) as RecordedChainName[])('%s', (name) => {
  const { config, genesis, blocks } = readRecordedChain(name)
  const { schedule } = config
  const payloads = blocks.map(({ raw, hash }) => payloadOfBlock(decodeBlock(raw), hash))
  const open = (kv: Kv) => createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const setUnsafe = async (execution: Execution, payload: Payload) =>
    execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })

  it('block/execution: builds the same blocks from attributes, and has the correct state of each block on an unwind to genesis', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'basalt-blocks-'))
    try {
      await using kv = openLmdbKv(dir, Object.values(tables))
      await using execution = open(kv)
      for (const payload of payloads.slice(1)) {
        const isAt = (fork: 'holocene' | 'jovian') => isActive(schedule, fork, payload.timestamp)
        const parent = { number: payload.blockNumber - 1, hash: payload.parentHash }
        expect(await execution.build(parent, attributesOf(isAt('holocene'), isAt('jovian'), payload))).toEqual({ kind: 'built', payload })
      }
      await setUnsafe(execution, payloads.at(-1) as Payload)
      checkHistory(execution, payloads)
      execution.commit()
      checkHistory(execution, payloads)
      for (const to of [payloads.length - 2, 40, 0]) {
        await setUnsafe(execution, payloads[to] as Payload)
        expect((await execution.heads()).unsafe.number).toBe(to)
        checkHistory(execution, payloads.slice(0, to + 1))
        execution.commit()
        checkHistory(execution, payloads.slice(0, to + 1))
      }
      await setUnsafe(execution, payloads.at(-1) as Payload)
      checkHistory(execution, payloads)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})

/** Verifies an account's proof at each block against the state root of its header. */
function checkHistory(execution: Execution, payloads: readonly Payload[]) {
  using view = execution.view()
  const key = keccak256(fromHex(sequencerFeeVault))
  for (const { blockNumber, blockHash, stateRoot } of payloads) {
    expect(view.canonicalHash(blockNumber)).toBe(blockHash)
    const proved = view.state({ number: blockNumber, hash: blockHash })?.prove(sequencerFeeVault, [])
    expect(verifyProof(stateRoot, key, proved?.proof ?? []).kind).toBe(proved?.account ? 'present' : 'absent')
  }
}
